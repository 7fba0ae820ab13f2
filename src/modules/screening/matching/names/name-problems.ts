// Reasons that a name can't be compared completely. Imports nothing, because the service and the command share it.

export const NAME_PROBLEMS = {
  'too-long': 'a name is too long',
  'no-letters': 'a name has fewer than two letters',
  'too-many-words': 'a name has too many words to compare',
  'too-many-hits': 'a name resembles too many listed names to show',
  'too-many-ways': 'a name can be read in too many ways to compare',
  'long-word': 'a word in a name is too long',
  'single-letters': 'a name is written in single letters',
  disguised: 'a word in a name mixes alphabets, or uses symbols as letters',
  unreadable: 'a name contains letters that cannot be compared with the lists',
  cut: 'the name is truncated in the document’s machine-readable zone',
} as const
export type NameProblem = keyof typeof NAME_PROBLEMS
