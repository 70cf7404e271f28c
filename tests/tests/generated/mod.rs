//! Written by `generated_graphs.rs`; do not edit.

#![allow(unused_variables)] // not every worker's handle is used

use super::*;

type Make = fn() -> StateGraph<Trace>;

/// Each graph twice: by `graph!` and by the builder.
pub(crate) const GRAPHS: &[(Make, Make)] = &[
    (chains_0, calls_0),
    (chains_1, calls_1),
    (chains_2, calls_2),
    (chains_3, calls_3),
    (chains_4, calls_4),
    (chains_5, calls_5),
    (chains_6, calls_6),
    (chains_7, calls_7),
    (chains_8, calls_8),
    (chains_9, calls_9),
    (chains_10, calls_10),
    (chains_11, calls_11),
    (chains_12, calls_12),
    (chains_13, calls_13),
    (chains_14, calls_14),
    (chains_15, calls_15),
    (chains_16, calls_16),
    (chains_17, calls_17),
    (chains_18, calls_18),
    (chains_19, calls_19),
    (chains_20, calls_20),
    (chains_21, calls_21),
    (chains_22, calls_22),
    (chains_23, calls_23),
    (chains_24, calls_24),
    (chains_25, calls_25),
    (chains_26, calls_26),
    (chains_27, calls_27),
    (chains_28, calls_28),
    (chains_29, calls_29),
];

fn chains_0() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => s1;
        s1 => s2;
        s2 => [x2 => z2, y2] => s3;
        s3 => s4;
        s4 => END;
    }
}

fn calls_0() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("s1", s1);
    graph.add_node("s2", s2);
    graph.add_node("x2", x2);
    graph.add_node("z2", z2);
    graph.add_node("y2", y2);
    graph.add_node("s3", s3);
    graph.add_node("s4", s4);
    graph.add_edge(START, "s0");
    graph.add_edge("s0", "s1");
    graph.add_edge("s1", "s2");
    graph.add_edge("s2", "x2");
    graph.add_edge("x2", "z2");
    graph.add_edge("s2", "y2");
    graph.add_edge(["z2", "y2"], "s3");
    graph.add_edge("s3", "s4");
    graph.add_edge("s4", END);
    graph
}

fn chains_1() -> StateGraph<Trace> {
    let s2 = jump("s2", "s3", "x2");
    graph! {
        type State = Trace;
        START => s0;
        s0 => if few { x0 => s1 } else { s1 };
        s1 => match way { Way::On => s2, Way::Aside => [x1, y1], Way::Back => s0 };
        x1 => s2; y1 => s2;
        s2 => goto [s3, x2]; x2 => s3;
        s3 => s4;
        s4 => END;
    }
}

fn calls_1() -> StateGraph<Trace> {
    let s2 = jump("s2", "s3", "x2");
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("x0", x0);
    graph.add_node("s1", s1);
    graph.add_node("s2", s2);
    graph.add_node("x1", x1);
    graph.add_node("y1", y1);
    graph.add_node("s3", s3);
    graph.add_node("x2", x2);
    graph.add_node("s4", s4);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", few_key, [("few", "x0"), ("many", "s1")]);
    graph.add_edge("x0", "s1");
    graph.add_conditional_edges("s1", way_keys, [("on", "s2"), ("aside 1", "x1"), ("aside 2", "y1"), ("back", "s0")]);
    graph.add_edge("x1", "s2");
    graph.add_edge("y1", "s2");
    graph.add_destinations("s2", ["s3", "x2"]);
    graph.add_edge("x2", "s3");
    graph.add_edge("s3", "s4");
    graph.add_edge("s4", END);
    graph
}

fn chains_2() -> StateGraph<Trace> {
    let s1 = jump("s1", "s2", "x1");
    graph! {
        type State = Trace;
        START => s0;
        s0 => match some_items { Some(items) => for item in items { w0(item) }, None => s1 };
        w0 => s1;
        s1 => goto [s2, x1]; x1 => s2;
        s2 => END;
    }
}

fn calls_2() -> StateGraph<Trace> {
    let s1 = jump("s1", "s2", "x1");
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    let w0 = graph.add_worker("w0", w0);
    graph.add_node("s1", s1);
    graph.add_node("s2", s2);
    graph.add_node("x1", x1);
    graph.add_edge(START, "s0");
    graph.add_router("s0", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w0", item))).collect(), None => vec![Target::Node("s1".into())] });
    graph.add_edge("w0", "s1");
    graph.add_destinations("s1", ["s2", "x1"]);
    graph.add_edge("x1", "s2");
    graph.add_edge("s2", END);
    graph
}

fn chains_3() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => [x0 => z0, y0] => s1;
        s1 => [x1 => z1, y1] => s2;
        s2 => match some_items { Some(items) => for item in items { w2(item) }, None => s3 };
        w2 => s3;
        s3 => for item in items { w3(item) } => s4;
        s4 => END;
    }
}

fn calls_3() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("x0", x0);
    graph.add_node("z0", z0);
    graph.add_node("y0", y0);
    graph.add_node("s1", s1);
    graph.add_node("x1", x1);
    graph.add_node("z1", z1);
    graph.add_node("y1", y1);
    graph.add_node("s2", s2);
    let w2 = graph.add_worker("w2", w2);
    graph.add_node("s3", s3);
    let w3 = graph.add_worker("w3", w3);
    graph.add_node("s4", s4);
    graph.add_edge(START, "s0");
    graph.add_edge("s0", "x0");
    graph.add_edge("x0", "z0");
    graph.add_edge("s0", "y0");
    graph.add_edge(["z0", "y0"], "s1");
    graph.add_edge("s1", "x1");
    graph.add_edge("x1", "z1");
    graph.add_edge("s1", "y1");
    graph.add_edge(["z1", "y1"], "s2");
    graph.add_router("s2", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w2", item))).collect(), None => vec![Target::Node("s3".into())] });
    graph.add_edge("w2", "s3");
    graph.add_map("s3", items, &w3);
    graph.add_edge("w3", "s4");
    graph.add_edge("s4", END);
    graph
}

fn chains_4() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => for item in items { w0(item) } => s1;
        s1 => END;
    }
}

fn calls_4() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    let w0 = graph.add_worker("w0", w0);
    graph.add_node("s1", s1);
    graph.add_edge(START, "s0");
    graph.add_map("s0", items, &w0);
    graph.add_edge("w0", "s1");
    graph.add_edge("s1", END);
    graph
}

fn chains_5() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => match way { Way::On => s1, Way::Aside => [x0, y0], Way::Back => s0 };
        x0 => s1; y0 => s1;
        s1 => if few { x1 => s2 } else { s2 };
        s2 => END;
    }
}

fn calls_5() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("s1", s1);
    graph.add_node("x0", x0);
    graph.add_node("y0", y0);
    graph.add_node("x1", x1);
    graph.add_node("s2", s2);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", way_keys, [("on", "s1"), ("aside 1", "x0"), ("aside 2", "y0"), ("back", "s0")]);
    graph.add_edge("x0", "s1");
    graph.add_edge("y0", "s1");
    graph.add_conditional_edges("s1", few_key, [("few", "x1"), ("many", "s2")]);
    graph.add_edge("x1", "s2");
    graph.add_edge("s2", END);
    graph
}

fn chains_6() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => for item in items { w0(item) } => s1;
        s1 => s2;
        s2 => match some_items { Some(items) => for item in items { w2(item) }, None => s3 };
        w2 => s3;
        s3 => match way { Way::On => s4, Way::Aside => [x3, y3], Way::Back => s0 };
        x3 => s4; y3 => s4;
        s4 => for item in items { w4(item) } => s5;
        s5 => END;
    }
}

fn calls_6() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    let w0 = graph.add_worker("w0", w0);
    graph.add_node("s1", s1);
    graph.add_node("s2", s2);
    let w2 = graph.add_worker("w2", w2);
    graph.add_node("s3", s3);
    graph.add_node("s4", s4);
    graph.add_node("x3", x3);
    graph.add_node("y3", y3);
    let w4 = graph.add_worker("w4", w4);
    graph.add_node("s5", s5);
    graph.add_edge(START, "s0");
    graph.add_map("s0", items, &w0);
    graph.add_edge("w0", "s1");
    graph.add_edge("s1", "s2");
    graph.add_router("s2", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w2", item))).collect(), None => vec![Target::Node("s3".into())] });
    graph.add_edge("w2", "s3");
    graph.add_conditional_edges("s3", way_keys, [("on", "s4"), ("aside 1", "x3"), ("aside 2", "y3"), ("back", "s0")]);
    graph.add_edge("x3", "s4");
    graph.add_edge("y3", "s4");
    graph.add_map("s4", items, &w4);
    graph.add_edge("w4", "s5");
    graph.add_edge("s5", END);
    graph
}

fn chains_7() -> StateGraph<Trace> {
    let s1 = jump("s1", "s2", "x1");
    graph! {
        type State = Trace;
        START => s0;
        s0 => match way { Way::On => s1, Way::Aside => [x0, y0], Way::Back => s0 };
        x0 => s1; y0 => s1;
        s1 => goto [s2, x1]; x1 => s2;
        s2 => if few { x2 => s3 } else { s3 };
        s3 => s4;
        s4 => match way { Way::On => s5, Way::Aside => [x4, y4], Way::Back => s0 };
        x4 => s5; y4 => s5;
        s5 => END;
    }
}

fn calls_7() -> StateGraph<Trace> {
    let s1 = jump("s1", "s2", "x1");
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("s1", s1);
    graph.add_node("x0", x0);
    graph.add_node("y0", y0);
    graph.add_node("s2", s2);
    graph.add_node("x1", x1);
    graph.add_node("x2", x2);
    graph.add_node("s3", s3);
    graph.add_node("s4", s4);
    graph.add_node("s5", s5);
    graph.add_node("x4", x4);
    graph.add_node("y4", y4);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", way_keys, [("on", "s1"), ("aside 1", "x0"), ("aside 2", "y0"), ("back", "s0")]);
    graph.add_edge("x0", "s1");
    graph.add_edge("y0", "s1");
    graph.add_destinations("s1", ["s2", "x1"]);
    graph.add_edge("x1", "s2");
    graph.add_conditional_edges("s2", few_key, [("few", "x2"), ("many", "s3")]);
    graph.add_edge("x2", "s3");
    graph.add_edge("s3", "s4");
    graph.add_conditional_edges("s4", way_keys, [("on", "s5"), ("aside 1", "x4"), ("aside 2", "y4"), ("back", "s0")]);
    graph.add_edge("x4", "s5");
    graph.add_edge("y4", "s5");
    graph.add_edge("s5", END);
    graph
}

fn chains_8() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => s1;
        s1 => match way { Way::On => s2, Way::Aside => [x1, y1], Way::Back => s0 };
        x1 => s2; y1 => s2;
        s2 => END;
    }
}

fn calls_8() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("s1", s1);
    graph.add_node("s2", s2);
    graph.add_node("x1", x1);
    graph.add_node("y1", y1);
    graph.add_edge(START, "s0");
    graph.add_edge("s0", "s1");
    graph.add_conditional_edges("s1", way_keys, [("on", "s2"), ("aside 1", "x1"), ("aside 2", "y1"), ("back", "s0")]);
    graph.add_edge("x1", "s2");
    graph.add_edge("y1", "s2");
    graph.add_edge("s2", END);
    graph
}

fn chains_9() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => if few { x0 => s1 } else { s1 };
        s1 => [x1 => z1, y1] => s2;
        s2 => [x2 => z2, y2] => s3;
        s3 => if few { x3 => s4 } else { s4 };
        s4 => END;
    }
}

fn calls_9() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("x0", x0);
    graph.add_node("s1", s1);
    graph.add_node("x1", x1);
    graph.add_node("z1", z1);
    graph.add_node("y1", y1);
    graph.add_node("s2", s2);
    graph.add_node("x2", x2);
    graph.add_node("z2", z2);
    graph.add_node("y2", y2);
    graph.add_node("s3", s3);
    graph.add_node("x3", x3);
    graph.add_node("s4", s4);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", few_key, [("few", "x0"), ("many", "s1")]);
    graph.add_edge("x0", "s1");
    graph.add_edge("s1", "x1");
    graph.add_edge("x1", "z1");
    graph.add_edge("s1", "y1");
    graph.add_edge(["z1", "y1"], "s2");
    graph.add_edge("s2", "x2");
    graph.add_edge("x2", "z2");
    graph.add_edge("s2", "y2");
    graph.add_edge(["z2", "y2"], "s3");
    graph.add_conditional_edges("s3", few_key, [("few", "x3"), ("many", "s4")]);
    graph.add_edge("x3", "s4");
    graph.add_edge("s4", END);
    graph
}

fn chains_10() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => match some_items { Some(items) => for item in items { w0(item) }, None => s1 };
        w0 => s1;
        s1 => match some_items { Some(items) => for item in items { w1(item) }, None => s2 };
        w1 => s2;
        s2 => for item in items { w2(item) } => s3;
        s3 => s4;
        s4 => s5;
        s5 => if few { x5 => s6 } else { s6 };
        s6 => END;
    }
}

fn calls_10() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    let w0 = graph.add_worker("w0", w0);
    graph.add_node("s1", s1);
    let w1 = graph.add_worker("w1", w1);
    graph.add_node("s2", s2);
    let w2 = graph.add_worker("w2", w2);
    graph.add_node("s3", s3);
    graph.add_node("s4", s4);
    graph.add_node("s5", s5);
    graph.add_node("x5", x5);
    graph.add_node("s6", s6);
    graph.add_edge(START, "s0");
    graph.add_router("s0", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w0", item))).collect(), None => vec![Target::Node("s1".into())] });
    graph.add_edge("w0", "s1");
    graph.add_router("s1", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w1", item))).collect(), None => vec![Target::Node("s2".into())] });
    graph.add_edge("w1", "s2");
    graph.add_map("s2", items, &w2);
    graph.add_edge("w2", "s3");
    graph.add_edge("s3", "s4");
    graph.add_edge("s4", "s5");
    graph.add_conditional_edges("s5", few_key, [("few", "x5"), ("many", "s6")]);
    graph.add_edge("x5", "s6");
    graph.add_edge("s6", END);
    graph
}

fn chains_11() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => [x0 => z0, y0] => s1;
        s1 => if few { x1 => s2 } else { s2 };
        s2 => s3;
        s3 => match way { Way::On => s4, Way::Aside => [x3, y3], Way::Back => s0 };
        x3 => s4; y3 => s4;
        s4 => if few { x4 => s5 } else { s5 };
        s5 => for item in items { w5(item) } => s6;
        s6 => END;
    }
}

fn calls_11() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("x0", x0);
    graph.add_node("z0", z0);
    graph.add_node("y0", y0);
    graph.add_node("s1", s1);
    graph.add_node("x1", x1);
    graph.add_node("s2", s2);
    graph.add_node("s3", s3);
    graph.add_node("s4", s4);
    graph.add_node("x3", x3);
    graph.add_node("y3", y3);
    graph.add_node("x4", x4);
    graph.add_node("s5", s5);
    let w5 = graph.add_worker("w5", w5);
    graph.add_node("s6", s6);
    graph.add_edge(START, "s0");
    graph.add_edge("s0", "x0");
    graph.add_edge("x0", "z0");
    graph.add_edge("s0", "y0");
    graph.add_edge(["z0", "y0"], "s1");
    graph.add_conditional_edges("s1", few_key, [("few", "x1"), ("many", "s2")]);
    graph.add_edge("x1", "s2");
    graph.add_edge("s2", "s3");
    graph.add_conditional_edges("s3", way_keys, [("on", "s4"), ("aside 1", "x3"), ("aside 2", "y3"), ("back", "s0")]);
    graph.add_edge("x3", "s4");
    graph.add_edge("y3", "s4");
    graph.add_conditional_edges("s4", few_key, [("few", "x4"), ("many", "s5")]);
    graph.add_edge("x4", "s5");
    graph.add_map("s5", items, &w5);
    graph.add_edge("w5", "s6");
    graph.add_edge("s6", END);
    graph
}

fn chains_12() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => [x0 => z0, y0] => s1;
        s1 => s2;
        s2 => match some_items { Some(items) => for item in items { w2(item) }, None => s3 };
        w2 => s3;
        s3 => END;
    }
}

fn calls_12() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("x0", x0);
    graph.add_node("z0", z0);
    graph.add_node("y0", y0);
    graph.add_node("s1", s1);
    graph.add_node("s2", s2);
    let w2 = graph.add_worker("w2", w2);
    graph.add_node("s3", s3);
    graph.add_edge(START, "s0");
    graph.add_edge("s0", "x0");
    graph.add_edge("x0", "z0");
    graph.add_edge("s0", "y0");
    graph.add_edge(["z0", "y0"], "s1");
    graph.add_edge("s1", "s2");
    graph.add_router("s2", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w2", item))).collect(), None => vec![Target::Node("s3".into())] });
    graph.add_edge("w2", "s3");
    graph.add_edge("s3", END);
    graph
}

fn chains_13() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => match way { Way::On => s1, Way::Aside => [x0, y0], Way::Back => s0 };
        x0 => s1; y0 => s1;
        s1 => for item in items { w1(item) } => s2;
        s2 => if few { x2 => s3 } else { s3 };
        s3 => [x3 => z3, y3] => s4;
        s4 => for item in items { w4(item) } => s5;
        s5 => END;
    }
}

fn calls_13() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("s1", s1);
    graph.add_node("x0", x0);
    graph.add_node("y0", y0);
    let w1 = graph.add_worker("w1", w1);
    graph.add_node("s2", s2);
    graph.add_node("x2", x2);
    graph.add_node("s3", s3);
    graph.add_node("x3", x3);
    graph.add_node("z3", z3);
    graph.add_node("y3", y3);
    graph.add_node("s4", s4);
    let w4 = graph.add_worker("w4", w4);
    graph.add_node("s5", s5);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", way_keys, [("on", "s1"), ("aside 1", "x0"), ("aside 2", "y0"), ("back", "s0")]);
    graph.add_edge("x0", "s1");
    graph.add_edge("y0", "s1");
    graph.add_map("s1", items, &w1);
    graph.add_edge("w1", "s2");
    graph.add_conditional_edges("s2", few_key, [("few", "x2"), ("many", "s3")]);
    graph.add_edge("x2", "s3");
    graph.add_edge("s3", "x3");
    graph.add_edge("x3", "z3");
    graph.add_edge("s3", "y3");
    graph.add_edge(["z3", "y3"], "s4");
    graph.add_map("s4", items, &w4);
    graph.add_edge("w4", "s5");
    graph.add_edge("s5", END);
    graph
}

fn chains_14() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => match some_items { Some(items) => for item in items { w0(item) }, None => s1 };
        w0 => s1;
        s1 => END;
    }
}

fn calls_14() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    let w0 = graph.add_worker("w0", w0);
    graph.add_node("s1", s1);
    graph.add_edge(START, "s0");
    graph.add_router("s0", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w0", item))).collect(), None => vec![Target::Node("s1".into())] });
    graph.add_edge("w0", "s1");
    graph.add_edge("s1", END);
    graph
}

fn chains_15() -> StateGraph<Trace> {
    let s1 = jump("s1", "s2", "x1");
    graph! {
        type State = Trace;
        START => s0;
        s0 => [x0 => z0, y0] => s1;
        s1 => goto [s2, x1]; x1 => s2;
        s2 => [x2 => z2, y2] => s3;
        s3 => END;
    }
}

fn calls_15() -> StateGraph<Trace> {
    let s1 = jump("s1", "s2", "x1");
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("x0", x0);
    graph.add_node("z0", z0);
    graph.add_node("y0", y0);
    graph.add_node("s1", s1);
    graph.add_node("s2", s2);
    graph.add_node("x1", x1);
    graph.add_node("x2", x2);
    graph.add_node("z2", z2);
    graph.add_node("y2", y2);
    graph.add_node("s3", s3);
    graph.add_edge(START, "s0");
    graph.add_edge("s0", "x0");
    graph.add_edge("x0", "z0");
    graph.add_edge("s0", "y0");
    graph.add_edge(["z0", "y0"], "s1");
    graph.add_destinations("s1", ["s2", "x1"]);
    graph.add_edge("x1", "s2");
    graph.add_edge("s2", "x2");
    graph.add_edge("x2", "z2");
    graph.add_edge("s2", "y2");
    graph.add_edge(["z2", "y2"], "s3");
    graph.add_edge("s3", END);
    graph
}

fn chains_16() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => match way { Way::On => s1, Way::Aside => [x0, y0], Way::Back => s0 };
        x0 => s1; y0 => s1;
        s1 => [x1 => z1, y1] => s2;
        s2 => if few { x2 => s3 } else { s3 };
        s3 => [x3 => z3, y3] => s4;
        s4 => if few { x4 => s5 } else { s5 };
        s5 => match some_items { Some(items) => for item in items { w5(item) }, None => s6 };
        w5 => s6;
        s6 => END;
    }
}

fn calls_16() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("s1", s1);
    graph.add_node("x0", x0);
    graph.add_node("y0", y0);
    graph.add_node("x1", x1);
    graph.add_node("z1", z1);
    graph.add_node("y1", y1);
    graph.add_node("s2", s2);
    graph.add_node("x2", x2);
    graph.add_node("s3", s3);
    graph.add_node("x3", x3);
    graph.add_node("z3", z3);
    graph.add_node("y3", y3);
    graph.add_node("s4", s4);
    graph.add_node("x4", x4);
    graph.add_node("s5", s5);
    let w5 = graph.add_worker("w5", w5);
    graph.add_node("s6", s6);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", way_keys, [("on", "s1"), ("aside 1", "x0"), ("aside 2", "y0"), ("back", "s0")]);
    graph.add_edge("x0", "s1");
    graph.add_edge("y0", "s1");
    graph.add_edge("s1", "x1");
    graph.add_edge("x1", "z1");
    graph.add_edge("s1", "y1");
    graph.add_edge(["z1", "y1"], "s2");
    graph.add_conditional_edges("s2", few_key, [("few", "x2"), ("many", "s3")]);
    graph.add_edge("x2", "s3");
    graph.add_edge("s3", "x3");
    graph.add_edge("x3", "z3");
    graph.add_edge("s3", "y3");
    graph.add_edge(["z3", "y3"], "s4");
    graph.add_conditional_edges("s4", few_key, [("few", "x4"), ("many", "s5")]);
    graph.add_edge("x4", "s5");
    graph.add_router("s5", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w5", item))).collect(), None => vec![Target::Node("s6".into())] });
    graph.add_edge("w5", "s6");
    graph.add_edge("s6", END);
    graph
}

fn chains_17() -> StateGraph<Trace> {
    let s0 = jump("s0", "s1", "x0");
    graph! {
        type State = Trace;
        START => s0;
        s0 => goto [s1, x0]; x0 => s1;
        s1 => match some_items { Some(items) => for item in items { w1(item) }, None => s2 };
        w1 => s2;
        s2 => s3;
        s3 => match way { Way::On => s4, Way::Aside => [x3, y3], Way::Back => s0 };
        x3 => s4; y3 => s4;
        s4 => s5;
        s5 => s6;
        s6 => END;
    }
}

fn calls_17() -> StateGraph<Trace> {
    let s0 = jump("s0", "s1", "x0");
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("s1", s1);
    graph.add_node("x0", x0);
    let w1 = graph.add_worker("w1", w1);
    graph.add_node("s2", s2);
    graph.add_node("s3", s3);
    graph.add_node("s4", s4);
    graph.add_node("x3", x3);
    graph.add_node("y3", y3);
    graph.add_node("s5", s5);
    graph.add_node("s6", s6);
    graph.add_edge(START, "s0");
    graph.add_destinations("s0", ["s1", "x0"]);
    graph.add_edge("x0", "s1");
    graph.add_router("s1", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w1", item))).collect(), None => vec![Target::Node("s2".into())] });
    graph.add_edge("w1", "s2");
    graph.add_edge("s2", "s3");
    graph.add_conditional_edges("s3", way_keys, [("on", "s4"), ("aside 1", "x3"), ("aside 2", "y3"), ("back", "s0")]);
    graph.add_edge("x3", "s4");
    graph.add_edge("y3", "s4");
    graph.add_edge("s4", "s5");
    graph.add_edge("s5", "s6");
    graph.add_edge("s6", END);
    graph
}

fn chains_18() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => match way { Way::On => s1, Way::Aside => [x0, y0], Way::Back => s0 };
        x0 => s1; y0 => s1;
        s1 => [x1 => z1, y1] => s2;
        s2 => for item in items { w2(item) } => s3;
        s3 => END;
    }
}

fn calls_18() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("s1", s1);
    graph.add_node("x0", x0);
    graph.add_node("y0", y0);
    graph.add_node("x1", x1);
    graph.add_node("z1", z1);
    graph.add_node("y1", y1);
    graph.add_node("s2", s2);
    let w2 = graph.add_worker("w2", w2);
    graph.add_node("s3", s3);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", way_keys, [("on", "s1"), ("aside 1", "x0"), ("aside 2", "y0"), ("back", "s0")]);
    graph.add_edge("x0", "s1");
    graph.add_edge("y0", "s1");
    graph.add_edge("s1", "x1");
    graph.add_edge("x1", "z1");
    graph.add_edge("s1", "y1");
    graph.add_edge(["z1", "y1"], "s2");
    graph.add_map("s2", items, &w2);
    graph.add_edge("w2", "s3");
    graph.add_edge("s3", END);
    graph
}

fn chains_19() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => for item in items { w0(item) } => s1;
        s1 => s2;
        s2 => match way { Way::On => s3, Way::Aside => [x2, y2], Way::Back => s0 };
        x2 => s3; y2 => s3;
        s3 => match some_items { Some(items) => for item in items { w3(item) }, None => s4 };
        w3 => s4;
        s4 => match way { Way::On => s5, Way::Aside => [x4, y4], Way::Back => s0 };
        x4 => s5; y4 => s5;
        s5 => match way { Way::On => s6, Way::Aside => [x5, y5], Way::Back => s0 };
        x5 => s6; y5 => s6;
        s6 => END;
    }
}

fn calls_19() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    let w0 = graph.add_worker("w0", w0);
    graph.add_node("s1", s1);
    graph.add_node("s2", s2);
    graph.add_node("s3", s3);
    graph.add_node("x2", x2);
    graph.add_node("y2", y2);
    let w3 = graph.add_worker("w3", w3);
    graph.add_node("s4", s4);
    graph.add_node("s5", s5);
    graph.add_node("x4", x4);
    graph.add_node("y4", y4);
    graph.add_node("s6", s6);
    graph.add_node("x5", x5);
    graph.add_node("y5", y5);
    graph.add_edge(START, "s0");
    graph.add_map("s0", items, &w0);
    graph.add_edge("w0", "s1");
    graph.add_edge("s1", "s2");
    graph.add_conditional_edges("s2", way_keys, [("on", "s3"), ("aside 1", "x2"), ("aside 2", "y2"), ("back", "s0")]);
    graph.add_edge("x2", "s3");
    graph.add_edge("y2", "s3");
    graph.add_router("s3", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w3", item))).collect(), None => vec![Target::Node("s4".into())] });
    graph.add_edge("w3", "s4");
    graph.add_conditional_edges("s4", way_keys, [("on", "s5"), ("aside 1", "x4"), ("aside 2", "y4"), ("back", "s0")]);
    graph.add_edge("x4", "s5");
    graph.add_edge("y4", "s5");
    graph.add_conditional_edges("s5", way_keys, [("on", "s6"), ("aside 1", "x5"), ("aside 2", "y5"), ("back", "s0")]);
    graph.add_edge("x5", "s6");
    graph.add_edge("y5", "s6");
    graph.add_edge("s6", END);
    graph
}

fn chains_20() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => if few { x0 => s1 } else { s1 };
        s1 => END;
    }
}

fn calls_20() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("x0", x0);
    graph.add_node("s1", s1);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", few_key, [("few", "x0"), ("many", "s1")]);
    graph.add_edge("x0", "s1");
    graph.add_edge("s1", END);
    graph
}

fn chains_21() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => if few { x0 => s1 } else { s1 };
        s1 => match way { Way::On => s2, Way::Aside => [x1, y1], Way::Back => s0 };
        x1 => s2; y1 => s2;
        s2 => for item in items { w2(item) } => s3;
        s3 => END;
    }
}

fn calls_21() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("x0", x0);
    graph.add_node("s1", s1);
    graph.add_node("s2", s2);
    graph.add_node("x1", x1);
    graph.add_node("y1", y1);
    let w2 = graph.add_worker("w2", w2);
    graph.add_node("s3", s3);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", few_key, [("few", "x0"), ("many", "s1")]);
    graph.add_edge("x0", "s1");
    graph.add_conditional_edges("s1", way_keys, [("on", "s2"), ("aside 1", "x1"), ("aside 2", "y1"), ("back", "s0")]);
    graph.add_edge("x1", "s2");
    graph.add_edge("y1", "s2");
    graph.add_map("s2", items, &w2);
    graph.add_edge("w2", "s3");
    graph.add_edge("s3", END);
    graph
}

fn chains_22() -> StateGraph<Trace> {
    let s1 = jump("s1", "s2", "x1");
    graph! {
        type State = Trace;
        START => s0;
        s0 => match some_items { Some(items) => for item in items { w0(item) }, None => s1 };
        w0 => s1;
        s1 => goto [s2, x1]; x1 => s2;
        s2 => match way { Way::On => s3, Way::Aside => [x2, y2], Way::Back => s0 };
        x2 => s3; y2 => s3;
        s3 => for item in items { w3(item) } => s4;
        s4 => match some_items { Some(items) => for item in items { w4(item) }, None => s5 };
        w4 => s5;
        s5 => for item in items { w5(item) } => s6;
        s6 => END;
    }
}

fn calls_22() -> StateGraph<Trace> {
    let s1 = jump("s1", "s2", "x1");
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    let w0 = graph.add_worker("w0", w0);
    graph.add_node("s1", s1);
    graph.add_node("s2", s2);
    graph.add_node("x1", x1);
    graph.add_node("s3", s3);
    graph.add_node("x2", x2);
    graph.add_node("y2", y2);
    let w3 = graph.add_worker("w3", w3);
    graph.add_node("s4", s4);
    let w4 = graph.add_worker("w4", w4);
    graph.add_node("s5", s5);
    let w5 = graph.add_worker("w5", w5);
    graph.add_node("s6", s6);
    graph.add_edge(START, "s0");
    graph.add_router("s0", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w0", item))).collect(), None => vec![Target::Node("s1".into())] });
    graph.add_edge("w0", "s1");
    graph.add_destinations("s1", ["s2", "x1"]);
    graph.add_edge("x1", "s2");
    graph.add_conditional_edges("s2", way_keys, [("on", "s3"), ("aside 1", "x2"), ("aside 2", "y2"), ("back", "s0")]);
    graph.add_edge("x2", "s3");
    graph.add_edge("y2", "s3");
    graph.add_map("s3", items, &w3);
    graph.add_edge("w3", "s4");
    graph.add_router("s4", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w4", item))).collect(), None => vec![Target::Node("s5".into())] });
    graph.add_edge("w4", "s5");
    graph.add_map("s5", items, &w5);
    graph.add_edge("w5", "s6");
    graph.add_edge("s6", END);
    graph
}

fn chains_23() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => if few { x0 => s1 } else { s1 };
        s1 => END;
    }
}

fn calls_23() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("x0", x0);
    graph.add_node("s1", s1);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", few_key, [("few", "x0"), ("many", "s1")]);
    graph.add_edge("x0", "s1");
    graph.add_edge("s1", END);
    graph
}

fn chains_24() -> StateGraph<Trace> {
    let s2 = jump("s2", "s3", "x2");
    let s3 = jump("s3", "s4", "x3");
    graph! {
        type State = Trace;
        START => s0;
        s0 => [x0 => z0, y0] => s1;
        s1 => match some_items { Some(items) => for item in items { w1(item) }, None => s2 };
        w1 => s2;
        s2 => goto [s3, x2]; x2 => s3;
        s3 => goto [s4, x3]; x3 => s4;
        s4 => END;
    }
}

fn calls_24() -> StateGraph<Trace> {
    let s2 = jump("s2", "s3", "x2");
    let s3 = jump("s3", "s4", "x3");
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("x0", x0);
    graph.add_node("z0", z0);
    graph.add_node("y0", y0);
    graph.add_node("s1", s1);
    let w1 = graph.add_worker("w1", w1);
    graph.add_node("s2", s2);
    graph.add_node("s3", s3);
    graph.add_node("x2", x2);
    graph.add_node("s4", s4);
    graph.add_node("x3", x3);
    graph.add_edge(START, "s0");
    graph.add_edge("s0", "x0");
    graph.add_edge("x0", "z0");
    graph.add_edge("s0", "y0");
    graph.add_edge(["z0", "y0"], "s1");
    graph.add_router("s1", |trace: &Trace| match some_items(trace) { Some(items) => items.into_iter().map(|item| Target::Send(Send::to("w1", item))).collect(), None => vec![Target::Node("s2".into())] });
    graph.add_edge("w1", "s2");
    graph.add_destinations("s2", ["s3", "x2"]);
    graph.add_edge("x2", "s3");
    graph.add_destinations("s3", ["s4", "x3"]);
    graph.add_edge("x3", "s4");
    graph.add_edge("s4", END);
    graph
}

fn chains_25() -> StateGraph<Trace> {
    let s0 = jump("s0", "s1", "x0");
    let s3 = jump("s3", "s4", "x3");
    graph! {
        type State = Trace;
        START => s0;
        s0 => goto [s1, x0]; x0 => s1;
        s1 => s2;
        s2 => for item in items { w2(item) } => s3;
        s3 => goto [s4, x3]; x3 => s4;
        s4 => END;
    }
}

fn calls_25() -> StateGraph<Trace> {
    let s0 = jump("s0", "s1", "x0");
    let s3 = jump("s3", "s4", "x3");
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("s1", s1);
    graph.add_node("x0", x0);
    graph.add_node("s2", s2);
    let w2 = graph.add_worker("w2", w2);
    graph.add_node("s3", s3);
    graph.add_node("s4", s4);
    graph.add_node("x3", x3);
    graph.add_edge(START, "s0");
    graph.add_destinations("s0", ["s1", "x0"]);
    graph.add_edge("x0", "s1");
    graph.add_edge("s1", "s2");
    graph.add_map("s2", items, &w2);
    graph.add_edge("w2", "s3");
    graph.add_destinations("s3", ["s4", "x3"]);
    graph.add_edge("x3", "s4");
    graph.add_edge("s4", END);
    graph
}

fn chains_26() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => match way { Way::On => s1, Way::Aside => [x0, y0], Way::Back => s0 };
        x0 => s1; y0 => s1;
        s1 => END;
    }
}

fn calls_26() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("s1", s1);
    graph.add_node("x0", x0);
    graph.add_node("y0", y0);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", way_keys, [("on", "s1"), ("aside 1", "x0"), ("aside 2", "y0"), ("back", "s0")]);
    graph.add_edge("x0", "s1");
    graph.add_edge("y0", "s1");
    graph.add_edge("s1", END);
    graph
}

fn chains_27() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => for item in items { w0(item) } => s1;
        s1 => match way { Way::On => s2, Way::Aside => [x1, y1], Way::Back => s0 };
        x1 => s2; y1 => s2;
        s2 => match way { Way::On => s3, Way::Aside => [x2, y2], Way::Back => s0 };
        x2 => s3; y2 => s3;
        s3 => if few { x3 => s4 } else { s4 };
        s4 => END;
    }
}

fn calls_27() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    let w0 = graph.add_worker("w0", w0);
    graph.add_node("s1", s1);
    graph.add_node("s2", s2);
    graph.add_node("x1", x1);
    graph.add_node("y1", y1);
    graph.add_node("s3", s3);
    graph.add_node("x2", x2);
    graph.add_node("y2", y2);
    graph.add_node("x3", x3);
    graph.add_node("s4", s4);
    graph.add_edge(START, "s0");
    graph.add_map("s0", items, &w0);
    graph.add_edge("w0", "s1");
    graph.add_conditional_edges("s1", way_keys, [("on", "s2"), ("aside 1", "x1"), ("aside 2", "y1"), ("back", "s0")]);
    graph.add_edge("x1", "s2");
    graph.add_edge("y1", "s2");
    graph.add_conditional_edges("s2", way_keys, [("on", "s3"), ("aside 1", "x2"), ("aside 2", "y2"), ("back", "s0")]);
    graph.add_edge("x2", "s3");
    graph.add_edge("y2", "s3");
    graph.add_conditional_edges("s3", few_key, [("few", "x3"), ("many", "s4")]);
    graph.add_edge("x3", "s4");
    graph.add_edge("s4", END);
    graph
}

fn chains_28() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => if few { x0 => s1 } else { s1 };
        s1 => END;
    }
}

fn calls_28() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("x0", x0);
    graph.add_node("s1", s1);
    graph.add_edge(START, "s0");
    graph.add_conditional_edges("s0", few_key, [("few", "x0"), ("many", "s1")]);
    graph.add_edge("x0", "s1");
    graph.add_edge("s1", END);
    graph
}

fn chains_29() -> StateGraph<Trace> {
    graph! {
        type State = Trace;
        START => s0;
        s0 => s1;
        s1 => [x1 => z1, y1] => s2;
        s2 => if few { x2 => s3 } else { s3 };
        s3 => END;
    }
}

fn calls_29() -> StateGraph<Trace> {
    let mut graph = StateGraph::new();
    graph.add_node("s0", s0);
    graph.add_node("s1", s1);
    graph.add_node("x1", x1);
    graph.add_node("z1", z1);
    graph.add_node("y1", y1);
    graph.add_node("s2", s2);
    graph.add_node("x2", x2);
    graph.add_node("s3", s3);
    graph.add_edge(START, "s0");
    graph.add_edge("s0", "s1");
    graph.add_edge("s1", "x1");
    graph.add_edge("x1", "z1");
    graph.add_edge("s1", "y1");
    graph.add_edge(["z1", "y1"], "s2");
    graph.add_conditional_edges("s2", few_key, [("few", "x2"), ("many", "s3")]);
    graph.add_edge("x2", "s3");
    graph.add_edge("s3", END);
    graph
}
