// The usage lines that a wrong call prints after the reason.

/** Begins a new form of the call; continuation lines are indented further. */
const NEXT_FORM = /\n {7}(?=\S)/

/**
 * @param help its first paragraph is `Usage: countersign VERB …`, with one form of the call a line
 * @returns the form that fits the words, or all forms if none does; then how to get the help
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

/** Shortens an error of `parseArgs`, which may have several lines, to one. */
export const explainArguments = (error: unknown): string => {
  const { code, message } = error as { readonly code?: string; readonly message: string }
  const option = /'(?:-\w, )?(--?[^' =]+)/.exec(message)?.[1] ?? ''
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `there is no option ${option}`
  if (message.includes('does not take')) return `${option} takes no value`
  return `${option} needs a value; a value that begins with a hyphen is written ${option}=VALUE`
}
