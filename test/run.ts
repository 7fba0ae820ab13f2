// `bun run test`: every test file outside of test/long, then one closing line, `N passed, N failed, N skipped`, that
// tools can read. `bun run test:long` does the same with the test files of test/long: whole journeys through real
// services and browsers, which take minutes. A folder's files run a few at a time, each few in a process of their own
// with a time limit, so that a process that hangs is a failure and not the end of the run. The files of a process share
// what is dear to start, such as a browser, and the modules that they load; all processes share a PostgreSQL server,
// with a database for each test that asks. The whole suite's services run as the single-file executable, made once
// beside the first targets: each starts in a third of the processor time. Named files and `bun run test:long` run them
// from the source; so do the first targets, and always test/service/production-start.test.ts. Four targets run at a
// time, since many of them wait more than they work. What a target printed comes whole, when it ends. Files in which a
// test failed run once more at the end, with nothing beside them: four targets at a time can make a machine too slow
// for a test that is right. What fails again has failed. What passes then is listed, as a test to mend. Temporary files
// are kept in memory where the machine has it: of file systems made for disks, the suite asks thousands of files made
// and removed at once. Skipped tests are listed with their names, which say the missing part. What failed is printed
// once more before the closing line: of a long log often only the end is kept. `bun run test core` runs the tests of
// the core, and `bun run test NAME` those of a module (test/support/parts.ts). Other arguments are files, which replace
// the folders.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ALLOCATOR_ENVIRONMENT } from '../src/cluster/allocator.ts'
import { isOfPart, PARTS } from './support/parts.ts'
import type { PostgresServer } from './support/postgres-server.ts'
import { PROGRAM_LIST } from './support/run-program.ts'

const ROOT = join(import.meta.dir, '..')
/** For one that hangs; on a busy machine the longest takes four minutes beside others. */
const TARGET_LIMIT_MS = 600_000
const TARGETS_AT_ONCE = 4
/** Few enough that the last target to begin is not alone for long. */
const FILES_AT_ONCE = 20
/** Folders whose files each start services of their own, and share little: each target takes about half a minute. */
const FEW_AT_ONCE: ReadonlyMap<string, number> = new Map([
  ['service', 4],
  ['cli', 9],
  ['pool', 9],
  ['store', 14],
  // One process: the first file compiles the contracts for all.
  ['chain', 30],
  ['long', 1],
])
/** Failed targets that run once more; where more fail, it is not for want of time. */
const MOST_RUN_AGAIN = 5
/** Begun first, so that none of their targets is alone at the end: what takes long, and then what waits more than it works. */
const LONGEST = [
  'chain',
  'store',
  'dashboard',
  'service',
  'identity',
  'admin',
  'conformance',
  'examples',
  'decision-log',
  'transparency',
  'release',
  'cli',
  'pool',
  'server',
  'cluster',
  'portal',
  'signing',
  'documentation.test.ts',
  'deploy',
  'client',
  'clients',
  'hardware-keys',
  'policy',
]
/** Of what a failed test printed: the last lines, which hold the error. */
const FAILURE_LINES = 40
/** A busy machine must not fail a test that waits for a process to start. */
const TEST_LIMIT_MS = 30_000

/** Free memory below which the folder of the system is used: what is in a file system in memory is memory. */
const MEMORY_NEEDED_BYTES = 4 * 1024 ** 3

/** Whether temporary files may go there: programs are among them, and a container's own is small. */
const isRoomy = (place: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(place)
    if (Math.min(bavail * bsize, freemem()) < MEMORY_NEEDED_BYTES) return false
    const program = join(mkdtempSync(join(place, 'countersign-test-')), 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    try {
      return Bun.spawnSync([program]).exitCode === 0
    } finally {
      rmSync(join(program, '..'), { recursive: true })
    }
  } catch {
    // There is none, or none that programs run from.
    return false
  }
}

interface Target {
  /** In the log. */
  readonly title: string
  readonly paths: readonly string[]
}

/**
 * @param name of a file, or of a folder whose files run a few at a time
 * @param part null: all files
 */
const targetsOf = (name: string, part: string | null = null): Target[] => {
  const path = `./test/${name}`
  const listed = name.endsWith('.test.ts')
    ? [path]
    : readdirSync(join(ROOT, path), { recursive: true }).map((file) => `${path}/${file}`)
  const files = listed
    .filter((file) => /\.test\.tsx?$/.test(file) && (part === null || isOfPart(file.slice(2), part)))
    .sort()
  const atOnce = FEW_AT_ONCE.get(name) ?? FILES_AT_ONCE
  return Array.from({ length: Math.ceil(files.length / atOnce) }, (_, at) => {
    const paths = files.slice(at * atOnce, (at + 1) * atOnce)
    return { title: paths.length === 1 ? paths.join() : `${paths[0]} and ${paths.length - 1} more`, paths }
  })
}

const rankOf = (name: string): number => (LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length)

/** Of the product, whose tests alone run; null: all tests, or the named files. */
const part = process.argv.length === 3 ? (PARTS.find((name) => name === process.argv[2]) ?? null) : null

const targets = (): Target[] => {
  const given = process.argv.slice(2)
  if (given[0] === '--long') return targetsOf('long')
  if (given.length > 0 && part === null) return given.map((path) => ({ title: path, paths: [path] }))
  return readdirSync(import.meta.dir, { withFileTypes: true })
    .filter((entry) => (entry.isDirectory() ? entry.name !== 'long' : entry.name.endsWith('.test.ts')))
    .map(({ name }) => name)
    .sort((left, right) => rankOf(left) - rankOf(right) || (left < right ? -1 : 1))
    .flatMap((name) => targetsOf(name, part))
}

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

interface Result extends Counts {
  readonly printed: string
  /** Files with a failed test; none where no report was written. */
  readonly failedFiles: readonly string[]
}

const run = async (paths: readonly string[], name: string): Promise<Result> => {
  const report = join(folder, `${name}.xml`)
  // Files: what a run that was killed has started may hold a pipe open.
  const stdout = join(folder, `${name}.out`)
  const stderr = join(folder, `${name}.err`)
  const child = Bun.spawn(
    ['bun', 'test', `--timeout=${TEST_LIMIT_MS}`, '--reporter=junit', `--reporter-outfile=${report}`, ...paths],
    { stdin: 'ignore', stdout: Bun.file(stdout), stderr: Bun.file(stderr), cwd: ROOT, env: process.env },
  )
  const limit = setTimeout(() => child.kill('SIGKILL'), TARGET_LIMIT_MS)
  const exitCode = await child.exited
  clearTimeout(limit)
  let printed = `${readText(stdout)}${readText(stderr)}`
  const xml = readText(report)
  const count = (attribute: string): number =>
    Number(new RegExp(`<testsuites[^>]* ${attribute}="(\\d+)"`).exec(xml)?.[1] ?? Number.NaN)
  for (const [, test] of xml.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<skipped/g)) printed += `skipped: ${test}\n`
  // No report: it was ended, or a file could not be loaded. That counts as one failure.
  if (Number.isNaN(count('tests'))) return { passed: 0, failed: 1, skipped: 0, printed, failedFiles: [] }
  const skipped = count('skipped')
  const failures = count('failures')
  const failed = Math.max(failures, exitCode === 0 ? 0 : 1)
  const failedFiles = new Set(
    [...xml.matchAll(/<testcase [^>]*file="([^"]*)"[^>]*>\s*<failure/g)].map(([, file = '']) => file),
  )
  return { passed: count('tests') - failures - skipped, failed, skipped, printed, failedFiles: [...failedFiles] }
}

const runAndPrint = async (title: string, paths: readonly string[], name: string): Promise<Result> => {
  const startedMs = performance.now()
  const result = await run(paths, name)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  process.stdout.write(`${result.printed}\n${title}: ${result.failed === 0 ? 'done' : 'FAILED'} after ${seconds} s\n\n`)
  return result
}

/** What the target's failed files do with nothing beside them; without their names, the whole target. */
const runAgain = async ({ title, paths }: Target, before: Result, name: string): Promise<Result> => {
  const again = await runAndPrint(
    `${title}, once more`,
    before.failedFiles.length > 0 ? before.failedFiles : paths,
    name,
  )
  if (before.failedFiles.length === 0) return again
  return { ...again, passed: before.passed + Math.max(0, before.failed - again.failed), skipped: before.skipped }
}

const describeFailures = ({ title }: Target, { printed }: Result): string => {
  const found = failuresOf(printed)
  // None is marked: it was ended, or a file could not be loaded.
  if (found.length === 0) found.push(printed.split('\n').slice(-FAILURE_LINES).join('\n'))
  return found.map((failure) => `${title}:\n${failure.trim()}\n\n`).join('')
}

/**
 * Writes the single-file executable's place for test/support/run-program.ts; nothing where it can't be made for this
 * platform. Processes that begin before it is made start the source.
 */
const makeProgram = async (): Promise<void> => {
  const list = join(folder, 'program-made.json')
  const target = `${process.platform}-${process.arch}`
  const words = ['bun', 'deploy/release/one-file.ts', '--target', target, '--out', folder, '--json']
  const made = Bun.spawn(words, { stdin: 'ignore', stdout: Bun.file(list), stderr: 'pipe', cwd: ROOT })
  if ((await made.exited) === 0) renameSync(list, join(folder, PROGRAM_LIST))
  else process.stdout.write(`Services run from the source: ${await new Response(made.stderr).text()}\n`)
}

/** The server that the run's processes share; null where it doesn't start, which each of them then says. */
const startSharedPostgres = async (): Promise<PostgresServer | null> => {
  // Loaded here: it looks for the run's folder.
  const { startPostgres } = await import('./support/postgres-server.ts')
  const server = await startPostgres().catch(() => null)
  if (server === null) return null
  process.env['TEST_POSTGRES_PORT'] = String(server.port)
  const { makeTemplate } = await import('./support/postgres.ts')
  await makeTemplate()
  return server
}

const MEMORY = '/dev/shm'
const folder = mkdtempSync(join(isRoomy(MEMORY) ? MEMORY : tmpdir(), 'countersign-test-'))
/** Others than the owner pass through: PostgreSQL runs as another user where the tests run as root. */
chmodSync(folder, 0o711)
const temporary = join(folder, 'temporary')
mkdirSync(temporary)
chmodSync(temporary, 0o1777)
// With the allocator set as `bun start` sets it: the system has a tenth less to do.
Object.assign(process.env, { ...ALLOCATOR_ENVIRONMENT, ...process.env, TMPDIR: temporary, TEST_RUN_FOLDER: folder })
/** What a test left that can't be removed is no reason to lose the closing line. */
const removeFolder = (): void => {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  } catch (error) {
    process.stderr.write(`${folder} stays: ${error instanceof Error ? error.message : String(error)}\n`)
  }
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    removeFolder()
    process.exit(1)
  })
}
const isWhole = process.argv.length === 2 || part === 'core'
const making = isWhole ? makeProgram() : null
const postgres = isWhole || part !== null || process.argv[2] === '--long' ? await startSharedPostgres() : null
const results = new Map<Target, Result>()
const waiting = [...targets().entries()]
const runLane = async (): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [index, target] = next
    results.set(target, await runAndPrint(target.title, target.paths, String(index)))
  }
}
await Promise.all([making, ...Array.from({ length: TARGETS_AT_ONCE }, runLane)])

const failed = [...results].filter(([, result]) => result.failed > 0)
let passedAlone = ''
if (failed.length <= MOST_RUN_AGAIN) {
  for (const [index, [target, before]] of failed.entries()) {
    const result = await runAgain(target, before, `again-${index}`)
    results.set(target, result)
    if (result.failed === 0) passedAlone += describeFailures(target, before)
  }
}
await postgres?.stop()
removeFolder()

const failures = [...results].filter(([, result]) => result.failed > 0)
if (passedAlone !== '') process.stdout.write(`What failed at first and passed alone:\n\n${passedAlone}`)
if (failures.length > 0) {
  const described = failures.map(([target, result]) => describeFailures(target, result)).join('')
  process.stdout.write(`What failed, once more:\n\n${described}`)
}
const total: Counts = { passed: 0, failed: 0, skipped: 0 }
for (const { passed, failed, skipped } of results.values()) {
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`)
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1)
