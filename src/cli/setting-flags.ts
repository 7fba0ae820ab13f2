// Separates the two settings that every verb takes, data folder and config file, from the verb's own flags.

const SETTING_FLAGS = new Set(['--data-dir', '--config'])

export interface SplitFlags {
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
