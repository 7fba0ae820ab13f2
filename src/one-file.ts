// Entry point of the single-file executable: the command line, or one of the program's own processes. Threads have
// separate entries (deploy/release/one-file.ts).
import { existsSync } from 'node:fs'
import { runCommandLine } from './cli/countersign.ts'
import { MODULES } from './modules.ts'
import { BUILT } from './program/built.ts'
import { ENTRY_WORD } from './program/entries.ts'
import { systemLibraryPaths } from './signing/secp256k1-system.ts'

/** Paths from the root of the repository, as passed to `ownProcess`. */
export const PROCESSES: Readonly<Record<string, () => Promise<unknown>>> = {
  'src/main.ts': () => import('./main.ts'),
  'src/pages/bundle-page.process.ts': () => import('./pages/bundle-page.process.ts'),
  'src/identity/evidence/check-pdf.process.ts': () => import('./identity/evidence/check-pdf.process.ts'),
  'src/identity/evidence/reencode.process.ts': () => import('./identity/evidence/reencode.process.ts'),
  'workers/index/decision-index.process.ts': () => import('../workers/index/decision-index.process.ts'),
  'workers/index/decision-search.process.ts': () => import('../workers/index/decision-search.process.ts'),
  'workers/index/shared-index.process.ts': () => import('../workers/index/shared-index.process.ts'),
  'workers/index/shared-search.process.ts': () => import('../workers/index/shared-search.process.ts'),
  'workers/tasks/task.process.ts': () => import('../workers/tasks/task.process.ts'),
  ...Object.assign({}, ...MODULES.map(({ processes }) => processes)),
}

/** One line per part that this file can't contain, with the consequence on this machine. */
const missingParts = (): readonly string[] => {
  const natives = Object.keys(BUILT?.natives ?? {})
  const library = systemLibraryPaths(process.platform, process.arch).find((path) => existsSync(path))
  const without = natives.includes('secp256k1.node')
    ? 'the slower, included build signs'
    : 'JavaScript signs at a third of the speed'
  const lines = [
    `the system’s libsecp256k1, which signs fastest (${library === undefined ? `not installed, so ${without}` : `found at ${library}`})`,
    'PostgreSQL, ClamAV, PKCS#11 modules, geolocation files and sanctions lists: configure your own',
  ]
  if (process.platform === 'win32' || !natives.some((name) => name.startsWith('@img/'))) {
    lines.push('image processing for this platform: documents are refused')
  }
  return lines.map((line) => `Not included: ${line}.`)
}

if (import.meta.main) {
  const [word, entry = ''] = process.argv.slice(2)
  if (word === ENTRY_WORD) {
    process.argv.splice(2, 2)
    await PROCESSES[entry]?.()
  } else {
    const isHelp = process.argv.some((argument) => argument === '--help' || argument === '-h')
    if (word === 'start' && !isHelp) for (const line of missingParts()) process.stdout.write(`${line}\n`)
    await runCommandLine()
  }
}
