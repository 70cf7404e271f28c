//! The one lifetime of what a node borrows.

use proc_macro2::Span;
use syn::visit_mut::{self, VisitMut};
use syn::{Lifetime, Type};

/// The lifetime of everything that a node borrows.
pub(super) fn shared_lifetime() -> Lifetime {
    Lifetime::new("'__run", Span::mixed_site())
}

/// Returns `ty` with one lifetime instead of all elided or named ones.
pub(super) fn one_lifetime(ty: &Type) -> Type {
    struct Shared;

    impl VisitMut for Shared {
        fn visit_type_reference_mut(&mut self, reference: &mut syn::TypeReference) {
            if reference.lifetime.is_none() {
                reference.lifetime = Some(shared_lifetime());
            }
            visit_mut::visit_type_reference_mut(self, reference);
        }

        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if lifetime.ident != "static" {
                *lifetime = shared_lifetime();
            }
        }

        // These have lifetimes of their own.
        fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
        fn visit_trait_bound_mut(&mut self, _: &mut syn::TraitBound) {}
    }

    let mut ty = ty.clone();
    Shared.visit_type_mut(&mut ty);
    ty
}
