//! The operator `EncoderLayer` of the int8 model, as ONNX Runtime sees it: its inputs, and the layer that they make.
//! What it computes is in `sentinel-encoder`; what a model file says of it, in `model/integer.py`.

use std::{
    cell::RefCell,
    slice::Iter,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use ort::{
    Error, Result,
    operator::{
        ComputeContext, Kernel, KernelContext, Operator, OperatorDomain, OperatorInput, OperatorOutput,
    },
    session::builder::SessionBuilder,
    value::{DynTensorValueType, TensorElementType, ValueRef},
};
use sentinel_encoder::{Affine, Layer, Linear, Processor, Scratch, Weights};

const DOMAIN: &str = "agent.sentinel";
const NAME: &str = "EncoderLayer";

/// Lets a session know the operator, if this machine computes it fast; else ONNX Runtime takes the model file's word for
/// what it is.
///
/// # Errors
/// When ONNX Runtime refuses.
pub fn teach(session: SessionBuilder) -> Result<SessionBuilder> {
    match Processor::fast() {
        Some(processor) => {
            Ok(session.with_operators(OperatorDomain::new(DOMAIN)?.add(EncoderLayer(processor))?)?)
        }
        None => Ok(session),
    }
}

struct EncoderLayer(Processor);

impl Operator for EncoderLayer {
    type Kernel<'attr> = Node;

    fn name(&self) -> &str {
        NAME
    }

    /// Rows, the factors of qkv and of widen; for qkv, out, widen and narrow a weight, its scale and bias; for the norms
    /// after attention and at the end a scale and a shift.
    fn inputs(&self) -> impl IntoIterator<Item = OperatorInput> {
        use TensorElementType::{Float32, Int8};
        let products = [[Int8, Float32, Float32]; 4];
        let all = [Float32; 3].into_iter().chain(products.into_iter().flatten()).chain([Float32; 4]);
        all.map(OperatorInput::required)
    }

    fn outputs(&self) -> impl IntoIterator<Item = OperatorOutput> {
        [OperatorOutput::required(TensorElementType::Float32)]
    }

    fn create_kernel<'attr>(&self, context: &KernelContext<'attr>) -> Result<Node> {
        let constants = (1..self.inputs().into_iter().count()).map(|at| context.constant_input(at));
        let constants = constants.collect::<Result<Vec<Constant<'_>>>>()?;
        let missing = |name: &str| Error::new(format!("{DOMAIN}:{NAME} has no attribute {name}"));
        let heads = context.get::<i64>("heads").and_then(|heads| usize::try_from(heads).ok());
        let heads = heads.ok_or_else(|| missing("heads"))?;
        let epsilon = context.get::<f32>("epsilon").ok_or_else(|| missing("epsilon"))?;
        let layer = shared(&Constants(constants.iter()).weights(heads, epsilon)?)?;
        Ok(Node { layer, processor: self.0 })
    }
}

thread_local! {
    /// One for all layers that a thread computes, so that it stays in the processor's cache from layer to layer.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// A layer at work in one session.
struct Node {
    layer: Arc<Layer>,
    processor: Processor,
}

impl Kernel for Node {
    fn compute(&mut self, context: &ComputeContext) -> Result<()> {
        let input = context.input(0)?.ok_or_else(|| Error::new("no rows"))?;
        let (shape, rows) = input.try_extract_tensor::<f32>()?;
        let mut output =
            context.output(0, shape.clone())?.ok_or_else(|| Error::new("no place for the rows"))?;
        let (_, result) = output.try_extract_tensor_mut::<f32>()?;
        result.copy_from_slice(rows);
        SCRATCH
            .with_borrow_mut(|scratch| self.layer.run(self.processor, scratch, result))
            .map_err(Error::wrap)
    }
}

type Constant<'a> = ValueRef<'a, DynTensorValueType>;

/// What a node is given in the model file, in the order of [`EncoderLayer::inputs`].
struct Constants<'a>(Iter<'a, Constant<'a>>);

impl<'a> Constants<'a> {
    fn weights(&mut self, heads: usize, epsilon: f32) -> Result<Weights<'a>> {
        let (qkv_factors, widen_factors) = (self.floats()?, self.floats()?);
        let (qkv, out, widen, narrow) = (self.linear()?, self.linear()?, self.linear()?, self.linear()?);
        let (attended, done) = (self.affine()?, self.affine()?);
        Ok(Weights {
            hidden: qkv_factors.len(),
            heads,
            wide: widen.bias.len(),
            qkv_factors,
            qkv,
            out,
            attended,
            widen_factors,
            widen,
            narrow,
            done,
            epsilon,
        })
    }

    fn linear(&mut self) -> Result<Linear<'a>> {
        let (_, weight) = self.next()?.try_extract_tensor::<i8>()?;
        Ok(Linear { weight, scale: self.floats()?, bias: self.floats()? })
    }

    fn affine(&mut self) -> Result<Affine<'a>> {
        Ok(Affine { scale: self.floats()?, shift: self.floats()? })
    }

    fn floats(&mut self) -> Result<&'a [f32]> {
        Ok(self.next()?.try_extract_tensor::<f32>()?.1)
    }

    fn next(&mut self) -> Result<&'a Constant<'a>> {
        self.0.next().ok_or_else(|| Error::new(format!("{DOMAIN}:{NAME} lacks an input")))
    }
}

/// The layer of these weights; that of another session, if it has the same. So the workers' sessions share the processor's
/// cache.
fn shared(weights: &Weights<'_>) -> Result<Arc<Layer>> {
    static OPEN: Mutex<Vec<Weak<Layer>>> = Mutex::new(Vec::new());
    let layer = Arc::new(Layer::new(weights).map_err(Error::wrap)?);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|other| other.strong_count() > 0);
    if let Some(same) = open.iter().filter_map(Weak::upgrade).find(|other| *other == layer) {
        return Ok(same);
    }
    open.push(Arc::downgrade(&layer));
    Ok(layer)
}
