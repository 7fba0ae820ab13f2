// `bun run test`: every test file, then one closing line, `N passed, N failed, N skipped`, that tools can read.
// Skipped tests are listed with their names, which say the missing part. Arguments go to `bun test`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
const report = join(folder, 'report.xml')
const child = Bun.spawn(['bun', 'test', '--reporter=junit', `--reporter-outfile=${report}`, ...process.argv.slice(2)], {
  stdout: 'inherit',
  stderr: 'inherit',
  cwd: join(import.meta.dir, '..'),
})
const exitCode = await child.exited

const readReport = (): string => {
  try {
    return readFileSync(report, 'utf8')
  } catch {
    return ''
  }
}

const xml = readReport()
rmSync(folder, { recursive: true, force: true })
const count = (attribute: string): number =>
  Number(new RegExp(`<testsuites[^>]* ${attribute}="(\\d+)"`).exec(xml)?.[1] ?? Number.NaN)
const total = count('tests')
const failures = count('failures')
const skipped = count('skipped')

for (const [, name] of xml.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<skipped/g)) {
  process.stdout.write(`skipped: ${name}\n`)
}
// A file that can't be loaded fails the run without being a test: it counts as one failure.
const failed = Number.isNaN(total) ? 1 : Math.max(failures, exitCode === 0 ? 0 : 1)
const passed = Number.isNaN(total) ? 0 : total - failures - skipped
process.stdout.write(`${passed} passed, ${failed} failed, ${Number.isNaN(skipped) ? 0 : skipped} skipped\n`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)
