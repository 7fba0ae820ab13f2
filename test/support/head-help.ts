// Answers `--help` of a script with the comment that the script begins with.
import { readFileSync } from 'node:fs'

/** The script's first lines that are comments, without their slashes. */
export const headOf = (source: string): string => {
  const lines = source.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('//'))
  return lines
    .slice(0, end)
    .map((line) => `${line.replace(/^\/\/ ?/, '')}\n`)
    .join('')
}

/** Call it right after the imports. With --help it prints and ends the process; a script that is imported goes on. */
export const answerHelp = ({ main, path }: Pick<ImportMeta, 'main' | 'path'>): void => {
  if (!main || !process.argv.slice(2).some((word) => word === '--help' || word === '-h')) return
  process.stdout.write(headOf(readFileSync(path, 'utf8')))
  process.exit(0)
}
