//! One choice of features for what the tests with servers build; there is no code here.
