// The test runner of `bun run test` and `bun run test:long`. Its last line is `N passed, N failed, N skipped`.
//
// `bun run test` runs all test files outside of test/long; `core` or the name of a module restricts them to a part
// (test/support/parts.ts), and files replace them. Four targets run at once, each a process with a few files of a folder.
// A complete run starts services from the single-file executable, which is built beside the first targets, and shares one
// PostgreSQL server. Failed files run once more alone, because a busy machine can fail a correct test; tests that pass
// then are listed. Temporary files are in memory if possible. Output of a target is printed when it ends, and failures
// are repeated at the end.
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
import { words } from './support/words.ts'

const ROOT = join(import.meta.dir, '..')
/** On a busy machine, the longest target takes four minutes. */
const TARGET_LIMIT_MS = 600_000
const TARGETS_AT_ONCE = 4
const FILES_AT_ONCE = 20
/** Folders whose files start their own services, so that a target takes about half a minute. */
const FEW_AT_ONCE: ReadonlyMap<string, number> = new Map([
  ['service', 4],
  ['cli', 9],
  ['pool', 9],
  ['store', 14],
  // One process, because the first file compiles the contracts for all.
  ['chain', 30],
  ['long', 1],
])
/** If more targets fail, none runs again, because slowness is not the cause. */
const MOST_RUN_AGAIN = 5
/** Folders that start first, so that none of them is alone at the end. */
const LONGEST = words`
  chain store dashboard service identity admin conformance examples decision-log transparency release cli pool server
  cluster portal signing documentation.test.ts deploy client clients hardware-keys policy
`
/** Printed lines of a failed test, which end with the error. */
const FAILURE_LINES = 40
const TEST_LIMIT_MS = 30_000

/** Free memory that is required for temporary files in memory. */
const MEMORY_NEEDED_BYTES = 4 * 1024 ** 3

/** Reports whether a folder has enough space and can contain programs. */
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
    // The folder is missing, or programs cannot run from it.
    return false
  }
}

interface Target {
  readonly title: string
  readonly paths: readonly string[]
}

/** @param name of a file, or of a folder whose files are divided into targets */
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

/** Part of the product whose tests run; null for all tests or the named files. */
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

/** Bun prints the error before the `(fail)` line, and a time limit after it. */
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
  /** Files with a failed test; empty without a report. */
  readonly failedFiles: readonly string[]
}

const run = async (paths: readonly string[], name: string): Promise<Result> => {
  const report = join(folder, `${name}.xml`)
  // Files, because processes of a killed run may keep a pipe open.
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
  // Without a report, the run was killed or a file could not be loaded, which counts as one failure.
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

/** Runs the failed files of a target alone, or the whole target if the files are unknown. */
const runAgain = async ({ title, paths }: Target, before: Result, name: string): Promise<Result> => {
  const files = before.failedFiles.length > 0 ? before.failedFiles : paths
  const again = await runAndPrint(`${title}, once more`, files, name)
  if (before.failedFiles.length === 0) return again
  return { ...again, passed: before.passed + Math.max(0, before.failed - again.failed), skipped: before.skipped }
}

const describeFailures = ({ title }: Target, { printed }: Result): string => {
  const found = failuresOf(printed)
  // The run was killed, or a file could not be loaded.
  if (found.length === 0) found.push(printed.split('\n').slice(-FAILURE_LINES).join('\n'))
  return found.map((failure) => `${title}:\n${failure.trim()}\n\n`).join('')
}

/** Builds the single-file executable, if possible; test/support/run-program.ts reads its path. */
const buildProgram = async (): Promise<void> => {
  const list = join(folder, 'program-made.json')
  const target = `${process.platform}-${process.arch}`
  const command = ['bun', 'deploy/release/one-file.ts', '--target', target, '--out', folder, '--json']
  const made = Bun.spawn(command, { stdin: 'ignore', stdout: Bun.file(list), stderr: 'pipe', cwd: ROOT })
  if ((await made.exited) === 0) renameSync(list, join(folder, PROGRAM_LIST))
  else process.stdout.write(`Services run from the source: ${await new Response(made.stderr).text()}\n`)
}

/** Starts the shared server; returns null if it does not start. */
const startSharedPostgres = async (): Promise<PostgresServer | null> => {
  // Loaded here, because it reads the folder of the run.
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
/** Other users can enter, because PostgreSQL runs as another user if the tests run as root. */
chmodSync(folder, 0o711)
const temporary = join(folder, 'temporary')
mkdirSync(temporary)
chmodSync(temporary, 0o1777)
// With the allocator of `bun start`, the system does a tenth less work.
Object.assign(process.env, { ...ALLOCATOR_ENVIRONMENT, ...process.env, TMPDIR: temporary, TEST_RUN_FOLDER: folder })
/** A folder that cannot be removed must not prevent the last line. */
const removeFolder = (): void => {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  } catch (error) {
    process.stderr.write(`could not remove ${folder}: ${error instanceof Error ? error.message : String(error)}\n`)
  }
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    removeFolder()
    process.exit(1)
  })
}
const isWhole = process.argv.length === 2 || part === 'core'
const building = isWhole ? buildProgram() : null
const postgres = isWhole || part !== null || process.argv[2] === '--long' ? await startSharedPostgres() : null
const results = new Map<Target, Result>()
const waiting = [...targets().entries()]
const runLane = async (): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [index, target] = next
    results.set(target, await runAndPrint(target.title, target.paths, String(index)))
  }
}
await Promise.all([building, ...Array.from({ length: TARGETS_AT_ONCE }, runLane)])

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
if (passedAlone !== '') process.stdout.write(`Failed at first and passed alone:\n\n${passedAlone}`)
if (failures.length > 0) {
  const described = failures.map(([target, result]) => describeFailures(target, result)).join('')
  process.stdout.write(`Failures:\n\n${described}`)
}
const total: Counts = { passed: 0, failed: 0, skipped: 0 }
for (const { passed, failed, skipped } of results.values()) {
  total.passed += passed
  total.failed += failed
  total.skipped += skipped
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`)
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1)
