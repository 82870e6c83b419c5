//! A connection: to one Redis or to a cluster. Both carry many questions at once and answer each as its reply comes.

use redis::{
    Cmd, Pipeline, RedisError, RedisFuture, Value,
    aio::{ConnectionLike, MultiplexedConnection},
    cluster_async::ClusterConnection,
    cluster_routing::{RoutingInfo, SingleNodeRoutingInfo},
    cmd,
};

#[derive(Clone)]
pub enum Connection {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connection {
    /// A sign of life; of any node of a cluster, since one that is lost is not the end of the others.
    pub async fn ping(&mut self) -> Result<(), RedisError> {
        match self {
            Self::Single(single) => cmd("PING").query_async(single).await,
            Self::Cluster(cluster) => {
                let any = RoutingInfo::SingleNode(SingleNodeRoutingInfo::Random);
                cluster.route_command(cmd("PING"), any).await.map(drop)
            }
        }
    }
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::Single(single) => single.req_packed_command(command),
            Self::Cluster(cluster) => cluster.req_packed_command(command),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        commands: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::Single(single) => single.req_packed_commands(commands, offset, count),
            Self::Cluster(cluster) => cluster.req_packed_commands(commands, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Single(single) => single.get_db(),
            Self::Cluster(cluster) => cluster.get_db(),
        }
    }
}
