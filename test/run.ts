// `bun run test`: every test file, then one closing line, `N passed, N failed, N skipped`, that tools can read. Each
// folder runs in a process of its own with a time limit, so that one that hangs is a failure and not the end of the run.
// The folders whose tests start services or browsers run file by file: they are the longest, and nothing in them is shared.
// Four targets run at a time, since many of them wait more than they work. What a target printed comes whole, when it ends.
// Skipped tests are listed with their names, which say the missing part. What failed is printed once more before the
// closing line: of a long log often only the end is kept. Arguments replace the folders.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
/** For one that hangs; on a busy machine the longest takes four minutes beside two others. */
const FOLDER_LIMIT_MS = 480_000
const TARGETS_AT_ONCE = 4
/** Each of their files is a target by itself. */
const BY_FILE: ReadonlySet<string> = new Set(['service', 'dashboard', 'portal'])
/** Begun first, so that none of them is alone at the end. */
const LONGEST = [
  ...['store', 'service', 'dashboard', 'portal', 'identity', 'chain', 'cli', 'conformance', 'pool', 'signing', 'admin'],
  ...['http', 'cluster', 'decisions'],
].map((name) => `./test/${name}`)
/** Of what a failed test printed: the last lines, which hold the error. */
const FAILURE_LINES = 40
/** A busy machine must not fail a test that waits for a process to start. */
const TEST_LIMIT_MS = 30_000

const rankOf = (target: string): number => {
  const rank = LONGEST.findIndex((folder) => target === folder || target.startsWith(`${folder}/`))
  return rank === -1 ? LONGEST.length : rank
}

const filesOf = (folder: string): string[] =>
  readdirSync(join(import.meta.dir, folder), { recursive: true })
    .map(String)
    .filter((name) => /\.test\.tsx?$/.test(name))
    .map((name) => `./test/${folder}/${name}`)

const targets = (): string[] => {
  if (process.argv.length > 2) return process.argv.slice(2)
  const entries = readdirSync(import.meta.dir, { withFileTypes: true })
  return entries
    .filter((entry) => (entry.isDirectory() ? entry.name !== 'long' : entry.name.endsWith('.test.ts')))
    .flatMap(({ name }) => (BY_FILE.has(name) ? filesOf(name) : [`./test/${name}`]))
    .sort((left, right) => rankOf(left) - rankOf(right) || (left < right ? -1 : 1))
}

const hasTests = (target: string): boolean =>
  /\.tsx?$/.test(target) ||
  readdirSync(join(ROOT, target), { recursive: true }).some((name) => /\.test\.tsx?$/.test(String(name)))

interface Counts {
  passed: number
  failed: number
  skipped: number
}

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** What Bun prints about a failed test stands before its `(fail)` line, a time limit on the line after. */
const failuresOf = (printed: string): string[] => {
  const failures: string[] = []
  let since: string[] = []
  const lines = printed.split('\n')
  for (const [at, line] of lines.entries()) {
    since.push(line)
    if (line.startsWith('(fail)')) {
      const next = lines[at + 1] ?? ''
      failures.push([...since.slice(-FAILURE_LINES), ...(/^ +\^ /.test(next) ? [next] : [])].join('\n'))
    }
    if (/^\((pass|fail|skip|todo)\)/.test(line)) since = []
  }
  return failures
}

interface FolderResult extends Counts {
  readonly printed: string
}

const run = async (target: string, index: number): Promise<FolderResult> => {
  const report = join(folder, `${index}.xml`)
  // Files: what a run that was killed has started may hold a pipe open.
  const stdout = join(folder, `${index}.out`)
  const stderr = join(folder, `${index}.err`)
  const child = Bun.spawn(
    ['bun', 'test', `--timeout=${TEST_LIMIT_MS}`, '--reporter=junit', `--reporter-outfile=${report}`, target],
    { stdin: 'ignore', stdout: Bun.file(stdout), stderr: Bun.file(stderr), cwd: ROOT },
  )
  const limit = setTimeout(() => child.kill('SIGKILL'), FOLDER_LIMIT_MS)
  const exitCode = await child.exited
  clearTimeout(limit)
  let printed = `${readText(stdout)}${readText(stderr)}`
  const xml = readText(report)
  const count = (attribute: string): number =>
    Number(new RegExp(`<testsuites[^>]* ${attribute}="(\\d+)"`).exec(xml)?.[1] ?? Number.NaN)
  for (const [, name] of xml.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<skipped/g)) printed += `skipped: ${name}\n`
  // No report: it was ended, or a file could not be loaded. That counts as one failure.
  if (Number.isNaN(count('tests'))) return { passed: 0, failed: 1, skipped: 0, printed }
  const skipped = count('skipped')
  const failures = count('failures')
  const failed = Math.max(failures, exitCode === 0 ? 0 : 1)
  return { passed: count('tests') - failures - skipped, failed, skipped, printed }
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
const total: Counts = { passed: 0, failed: 0, skipped: 0 }
const failures: string[] = []
const waiting = [...targets().filter(hasTests).entries()]
const runLane = async (): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [index, target] = next
    const startedMs = performance.now()
    const counts = await run(target, index)
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    const outcome = counts.failed === 0 ? 'done' : 'FAILED'
    process.stdout.write(`${counts.printed}\n${target}: ${outcome} after ${seconds} s\n\n`)
    if (counts.failed > 0) {
      const found = failuresOf(counts.printed)
      // None is marked: it was ended, or a file could not be loaded.
      if (found.length === 0) found.push(counts.printed.split('\n').slice(-FAILURE_LINES).join('\n'))
      failures.push(...found.map((failure) => `${target}:\n${failure.trim()}\n\n`))
    }
    total.passed += counts.passed
    total.failed += counts.failed
    total.skipped += counts.skipped
  }
}
await Promise.all(Array.from({ length: TARGETS_AT_ONCE }, runLane))
rmSync(folder, { recursive: true, force: true })
if (failures.length > 0) process.stdout.write(`What failed, once more:\n\n${failures.join('')}`)
process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`)
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1)
