// Separates the settings that every command accepts, data folder and config file, from the command's own options.

const SETTING_FLAGS = new Set(['--data-dir', '--config'])

interface SplitFlags {
  readonly settings: string[]
  readonly others: string[]
}

export const splitSettingFlags = (commandArguments: readonly string[]): SplitFlags => {
  const settings: string[] = []
  const others: string[] = []
  for (let index = 0; index < commandArguments.length; index++) {
    const argument = commandArguments[index] ?? ''
    const [name = ''] = argument.split('=', 1)
    if (!SETTING_FLAGS.has(name)) {
      others.push(argument)
      continue
    }
    settings.push(argument)
    const value = commandArguments[index + 1]
    if (argument === name && value !== undefined) {
      settings.push(value)
      index += 1
    }
  }
  return { settings, others }
}

/** Extracts --url before the noun. After the noun, a command may define its own option with this name. */
export const splitUrl = (
  commandLine: readonly string[],
): { readonly url: string | null; readonly words: readonly string[] } => {
  const [first = '', second, ...rest] = commandLine
  if (first.startsWith('--url=')) return { url: first.slice('--url='.length), words: commandLine.slice(1) }
  return first === '--url' && second !== undefined ? { url: second, words: rest } : { url: null, words: commandLine }
}
