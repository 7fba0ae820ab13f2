// Usage lines that are printed after the error of an invalid call.

/** Start of a new form of the call; continuation lines are indented further. */
const NEXT_FORM = /\n {7}(?=\S)/

/**
 * @param help starts with the paragraph `Usage: countersign VERB …`, with one form of the call per line
 * @returns the form that matches the words, or all forms if none matches; then a reference to the help
 */
export const usageOf = (help: string, words: readonly string[]): string => {
  const [paragraph = ''] = help.split('\n\n', 1)
  const forms = paragraph.trimEnd().replace('Usage: ', '').split(NEXT_FORM)
  const command = /^(?:bun run )?countersign \S+/.exec(paragraph.replace('Usage: ', ''))?.[0] ?? ''
  const wordOf = (form: string): string => form.slice(command.length + 1).split(' ', 1)[0] ?? ''
  const word = words.find((given) => forms.some((form) => wordOf(form) === given))
  const shown = word === undefined ? forms : forms.filter((form) => wordOf(form) === word)
  return `Usage: ${shown.join('\n       ')}\nTo list the options: ${command} --help\n`
}

/** Shortens an error of `parseArgs` to one line. */
export const explainArguments = (error: unknown): string => {
  const { code, message } = error as { readonly code?: string; readonly message: string }
  const option = /'(?:-\w, )?(--?[^' =]+)/.exec(message)?.[1] ?? ''
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `unknown option ${option}`
  if (message.includes('does not take')) return `${option} does not accept a value`
  return `${option} requires a value; if the value starts with a hyphen, use ${option}=VALUE`
}
