import { createRoot } from "react-dom/client";
import { App } from "./app";
import "@xyflow/react/dist/base.css";
import "./styles/theme.css";
import "./styles/controls.css";
import "./styles/layout.css";
import "./styles/graph.css";
import "./styles/timeline.css";
import "./styles/panel.css";

const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
