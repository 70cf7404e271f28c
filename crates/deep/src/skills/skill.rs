//! One skill.

use serde::{Deserialize, Serialize};

use super::front_matter::front_matter;

/// A skill: what the model knows of it before it reads its file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Skill {
    /// Its name, which is that of its folder.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The path of its `SKILL.md`.
    pub path: String,
    /// Why the model does not see it, if its `SKILL.md` cannot be read or does not follow the format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The longest name and the longest description, in characters.
const NAME: usize = 64;
const DESCRIPTION: usize = 1_024;

impl Skill {
    /// Reads the `SKILL.md` of a folder.
    pub(super) fn read(folder: &str, path: &str, text: &str) -> Self {
        match check(folder, text) {
            Ok(description) => Self {
                name: folder.to_owned(),
                description,
                path: path.to_owned(),
                problem: None,
            },
            Err(problem) => Self::unreadable(folder, path, problem),
        }
    }

    /// Creates the skill of a folder whose `SKILL.md` the model does not see.
    pub(super) fn unreadable(folder: &str, path: &str, problem: String) -> Self {
        Self {
            name: folder.to_owned(),
            path: path.to_owned(),
            problem: Some(problem),
            ..Self::default()
        }
    }

    /// The line about it in the instructions.
    pub(super) fn line(&self) -> String {
        let description = self.description.split_whitespace();
        let description = description.collect::<Vec<_>>().join(" ");
        format!(
            "\n- `{}`: {description} Its file: `{}`",
            self.name, self.path
        )
    }
}

/// Returns the description.
fn check(folder: &str, text: &str) -> Result<String, String> {
    let fields =
        front_matter(text).ok_or("it does not begin with fields between two lines `---`")?;
    let field = |name: &str| {
        let value = fields.get(name).filter(|value| !value.is_empty());
        value.ok_or(format!("it has no field `{name}`"))
    };
    let name = field("name")?;
    if name != folder {
        return Err(format!(
            "its name is `{name}`, and its folder is `{folder}`"
        ));
    }
    let letters = |c: char| c.is_lowercase() || c.is_ascii_digit() || c == '-';
    let hyphens = name.starts_with('-') || name.ends_with('-') || name.contains("--");
    if !name.chars().all(letters) || hyphens || name.chars().count() > NAME {
        return Err(format!(
            "its name `{name}` is not one of up to {NAME} lowercase letters, digits and single hyphens"
        ));
    }
    let description = field("description")?;
    if description.chars().count() > DESCRIPTION {
        return Err(format!(
            "its description has more than {DESCRIPTION} characters"
        ));
    }
    Ok(description.clone())
}
