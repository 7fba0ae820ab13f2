// Entry point of the one-file program: the command line, or one of the program's own processes. Threads have separate
// entries (deploy/release/one-file.ts).
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

/** Parts that this file can't contain, with the consequences on this machine, one line each. */
const missingParts = (): readonly string[] => {
  const natives = Object.keys(BUILT?.natives ?? {})
  const library = systemLibraryPaths(process.platform, process.arch).find((path) => existsSync(path))
  const without = natives.includes('secp256k1.node')
    ? 'the slower copy inside signs'
    : 'JavaScript signs, at a third of the speed'
  const lines = [
    `libsecp256k1, which signs fastest: ${library === undefined ? `this system has none, so ${without}` : `this system has ${library}`}`,
    'PostgreSQL, ClamAV, PKCS#11 modules, geography files, lists of sanctions: settings name those of yours',
  ]
  if (process.platform === 'win32' || !natives.some((name) => name.startsWith('@img/'))) {
    lines.push('what opens pictures on this platform: documents are refused')
  }
  return lines.map((line) => `Not in this file: ${line}.`)
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
