// The single-file executable that `bun run test` builds once: it starts in a third of the CPU time of the source.
// Single test files and `bun run test:long` start the source.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OneFile } from '../../deploy/release/one-file.ts'

/** File that the runner writes into the folder of its run: the JSON output of deploy/release/one-file.ts. */
export const PROGRAM_LIST = 'program.json'

const RUN_FOLDER = process.env['TEST_RUN_FOLDER']

const readProgram = (folder: string): OneFile | null => {
  const path = join(folder, PROGRAM_LIST)
  if (!existsSync(path)) return null
  const [made] = JSON.parse(readFileSync(path, 'utf8')) as readonly OneFile[]
  return made ?? null
}

/** Null outside the suite, or if the executable can't be built for this platform. */
export const RUN_PROGRAM: OneFile | null = RUN_FOLDER === undefined ? null : readProgram(RUN_FOLDER)

/** Words that start a command of the program, from the root of the repository. */
export const COMMAND_WORDS: readonly string[] =
  RUN_PROGRAM === null ? ['bun', 'src/cli/countersign.ts'] : [RUN_PROGRAM.path]
