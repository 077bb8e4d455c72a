use datafusion::prelude::*;
use object_store::aws::AmazonS3Builder;
#[tokio::main]
async fn main() -> datafusion::error::Result<()> {
    let _ = AmazonS3Builder::from_env();
    let ctx = SessionContext::new();
    ctx.sql("select 1 + 1 as x").await?.show().await?;
    Ok(())
}
