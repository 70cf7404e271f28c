mod algo;
mod ast;
mod check;
mod flow;
mod label;
mod model;
mod parse;
