// `bun run test`: every test file, then one closing line, `N passed, N failed, N skipped`, that tools can read. Each
// folder runs in a process of its own with a time limit, so that one that hangs is a failure and not the end of the run.
// Skipped tests are listed with their names, which say the missing part. Arguments replace the folders.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const FOLDER_LIMIT_MS = 240_000
/** A busy machine must not fail a test that waits for a process to start. */
const TEST_LIMIT_MS = 30_000

const targets = (): string[] => {
  if (process.argv.length > 2) return process.argv.slice(2)
  const entries = readdirSync(import.meta.dir, { withFileTypes: true })
  return entries
    .filter((entry) => (entry.isDirectory() ? entry.name !== 'long' : entry.name.endsWith('.test.ts')))
    .map(({ name }) => `./test/${name}`)
    .sort()
}

const hasTests = (target: string): boolean =>
  target.endsWith('.ts') ||
  readdirSync(join(ROOT, target), { recursive: true }).some((name) => /\.test\.tsx?$/.test(String(name)))

interface Counts {
  passed: number
  failed: number
  skipped: number
}

const readReport = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const run = async (target: string, report: string): Promise<Counts> => {
  const child = Bun.spawn(
    ['bun', 'test', `--timeout=${TEST_LIMIT_MS}`, '--reporter=junit', `--reporter-outfile=${report}`, target],
    { stdout: 'inherit', stderr: 'inherit', cwd: ROOT },
  )
  const limit = setTimeout(() => child.kill('SIGKILL'), FOLDER_LIMIT_MS)
  const exitCode = await child.exited
  clearTimeout(limit)
  const xml = readReport(report)
  const count = (attribute: string): number =>
    Number(new RegExp(`<testsuites[^>]* ${attribute}="(\\d+)"`).exec(xml)?.[1] ?? Number.NaN)
  for (const [, name] of xml.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<skipped/g)) {
    process.stdout.write(`skipped: ${name}\n`)
  }
  // No report: it was ended, or a file could not be loaded. That counts as one failure.
  if (Number.isNaN(count('tests'))) return { passed: 0, failed: 1, skipped: 0 }
  const skipped = count('skipped')
  const failures = count('failures')
  return { passed: count('tests') - failures - skipped, failed: Math.max(failures, exitCode === 0 ? 0 : 1), skipped }
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
const total: Counts = { passed: 0, failed: 0, skipped: 0 }
for (const [index, target] of targets().filter(hasTests).entries()) {
  const startedMs = performance.now()
  const counts = await run(target, join(folder, `${index}.xml`))
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  process.stdout.write(`${target}: ${counts.failed === 0 ? 'done' : 'FAILED'} after ${seconds} s\n`)
  total.passed += counts.passed
  total.failed += counts.failed
  total.skipped += counts.skipped
}
rmSync(folder, { recursive: true, force: true })
process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`)
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1)
