//! `Debug` and `Default` for types with parts that have none: states, closures, erased values.

/// Implements `Debug`, without a bound on the type's parameters:
///
/// - `impl_debug!([S: State] Pick<S>);` shows the name;
/// - `impl_debug!([S: State] Run<S>, |run| limit = run.limit);` shows the name and these fields;
/// - `impl_debug!([T] Worker<T>, |worker| "Worker({})", worker.name);` shows a text.
macro_rules! impl_debug {
    ([$($generics:tt)*] $name:ident $(<$($argument:tt),*>)?) => {
        impl<$($generics)*> std::fmt::Debug for $name $(<$($argument),*>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
    (
        [$($generics:tt)*] $name:ident $(<$($argument:tt),*>)?,
        |$this:ident| $($field:ident = $value:expr),+
    ) => {
        impl<$($generics)*> std::fmt::Debug for $name $(<$($argument),*>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                f.debug_struct(stringify!($name))
                    $(.field(stringify!($field), &$value))+
                    .finish_non_exhaustive()
            }
        }
    };
    (
        [$($generics:tt)*] $name:ident $(<$($argument:tt),*>)?,
        |$this:ident| $($text:expr),+
    ) => {
        impl<$($generics)*> std::fmt::Debug for $name $(<$($argument),*>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                write!(f, $($text),+)
            }
        }
    };
}

/// Implements `Default`, without a bound on the type's parameters: each field has its own.
macro_rules! impl_default {
    ([$($generics:tt)*] $name:ident <$($argument:tt),*> { $($field:ident),+ $(,)? }) => {
        impl<$($generics)*> Default for $name<$($argument),*> {
            fn default() -> Self {
                Self { $($field: Default::default()),+ }
            }
        }
    };
}
