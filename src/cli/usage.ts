// What a wrong call is told beside its reason: how the call is written, and where the help is.

/** A continuation is indented further than the name of the program. */
const NEXT_FORM = /\n {7}(?=\S)/

/**
 * @param help its first paragraph is `Usage: countersign VERB …`, one form of the call a line
 * @returns the form that the words begin with, or all of them where they name none; then how to get the help
 */
export const usageOf = (help: string, words: readonly string[]): string => {
  const [paragraph = ''] = help.split('\n\n', 1)
  const forms = paragraph.trimEnd().replace('Usage: ', '').split(NEXT_FORM)
  const command = /^(?:bun run )?countersign \S+/.exec(paragraph.replace('Usage: ', ''))?.[0] ?? ''
  const wordOf = (form: string): string => form.slice(command.length + 1).split(' ', 1)[0] ?? ''
  const word = words.find((given) => forms.some((form) => wordOf(form) === given))
  const shown = word === undefined ? forms : forms.filter((form) => wordOf(form) === word)
  return `Usage: ${shown.join('\n       ')}\n${command} --help says more.\n`
}

/** In our words: what `parseArgs` throws names the option, and may go on for lines. */
export const explainArguments = (error: unknown): string => {
  const { code, message } = error as { readonly code?: string; readonly message: string }
  const option = /'(?:-\w, )?(--?[^' =]+)/.exec(message)?.[1] ?? ''
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `there is no option ${option}`
  if (message.includes('does not take')) return `${option} takes no value`
  return `${option} needs a value; a value that begins with a hyphen is written ${option}=VALUE`
}
