// Why a name can't be compared completely. Imports nothing, so that the service and the command share the texts.

export const NAME_PROBLEMS = {
  'too-long': 'a name is too long to be one',
  'no-letters': 'a name has fewer than two letters',
  'too-many-words': 'a name has too many words to compare',
  'too-many-hits': 'a name resembles more listed names than are shown',
  'too-many-ways': 'a name can be read in more ways than are compared',
  'long-word': 'a word of a name is too long to be one',
  'single-letters': 'a name is written in single letters',
  disguised: 'a word of a name mixes alphabets, or has signs for letters',
  unreadable: 'a name has letters that cannot be compared with the lists',
  cut: 'the name in the document does not fit into its zone, which leaves out the rest',
} as const
export type NameProblem = keyof typeof NAME_PROBLEMS
