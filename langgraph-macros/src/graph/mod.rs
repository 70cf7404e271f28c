mod algo;
mod flow;
