// Responds to `--help` of a script with the comment at its start.
import { readFileSync } from 'node:fs'

/** Returns the comment lines at the start of a script, without slashes. */
export const headOf = (source: string): string => {
  const lines = source.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('//'))
  return lines
    .slice(0, end)
    .map((line) => `${line.replace(/^\/\/ ?/, '')}\n`)
    .join('')
}

/**
 * Call right after the imports. With --help, it prints the help and ends the process, unless the script was imported.
 */
export const answerHelp = ({ main, path }: Pick<ImportMeta, 'main' | 'path'>): void => {
  if (!main || !process.argv.slice(2).some((word) => word === '--help' || word === '-h')) return
  process.stdout.write(headOf(readFileSync(path, 'utf8')))
  process.exit(0)
}
