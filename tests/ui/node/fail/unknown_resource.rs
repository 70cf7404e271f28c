use langgraph::prelude::*;

// Each is rustc's own error, once.
#[node]
async fn tick(n: &i64, cx: &Context) -> Result<i64, NodeError> {
    let _ = cx.resource::<dyn Clock>()?;
    let _ = cx.resource::<Database>()?;
    let _ = cx.model()?;
    Ok(*n)
}

struct Tick;

#[node]
impl Tick {
    async fn run(&self, n: &i64, cx: &Context) -> Result<i64, NodeError> {
        let _ = cx.resource_arc::<Database>()?;
        let _ = cx.resource::<str>()?;
        let _ = cx.resource::<std::rc::Rc<u8>>()?;
        Ok(*n)
    }
}

fn main() {}
