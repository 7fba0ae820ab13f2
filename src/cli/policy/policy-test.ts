// `countersign policy test`: runs tests, and reports coverage and JUnit results for CI systems.
import { writeFileSync } from 'node:fs'
import type { CommandContext } from '../../command-line/command.ts'
import { readText } from '../../command-line/option-values.ts'
import { CommandFailedError, print } from '../../command-line/output.ts'
import { documentsAt, knownChains, printWarnings } from '../../command-line/policy-context.ts'
import { unreadableText } from '../../lib/named-error.ts'
import { compileSource } from '../../policy/cel/compile.ts'
import { PolicyInvalidError, type PolicyIssue } from '../../policy/issues.ts'
import { coverageOf, type PolicyCoverage } from '../../policy/tools/coverage.ts'
import { runPolicyTests, type TestResult } from '../../policy/tools/policy-tests.ts'

interface Suite {
  readonly file: string
  readonly source: string
  readonly tests: readonly TestResult[]
  readonly warnings: readonly PolicyIssue[]
  readonly coverage: PolicyCoverage | null
  readonly invalid: PolicyInvalidError | null
}

const runSuite = (context: CommandContext, file: string): Suite => {
  const source = readText(file)
  const suite = { file, source, tests: [], warnings: [], coverage: null, invalid: null }
  try {
    const { policy, warnings } = compileSource(source, knownChains(context))
    const coverage = context.command.flag('coverage') ? coverageOf(policy) : null
    return { ...suite, tests: runPolicyTests(policy), warnings, coverage }
  } catch (error) {
    if (!(error instanceof PolicyInvalidError)) throw error
    return { ...suite, invalid: error }
  }
}

const coverageText = ({ rules, unreached, branches, uncovered }: PolicyCoverage): string => {
  const conditions = uncovered.filter(({ rule }) => !unreached.includes(rule))
  return [
    `coverage: ${rules - unreached.length} of ${rules} rules, ${branches - uncovered.length} of ${branches} branches`,
    ...unreached.map((rule) => `  ${rule}: no test reaches this rule`),
    ...conditions.map(({ rule, condition, outcome }) => `  ${rule}: no test in which this is ${outcome}: ${condition}`),
    '',
  ].join('\n')
}

const suiteText = ({ file, tests, coverage, invalid }: Suite, isOnly: boolean): string => {
  const lines = tests.map(({ name, failure }) => (failure === null ? `pass  ${name}\n` : `FAIL  ${failure}\n`))
  if (invalid !== null) lines.push(`FAIL  ${invalid.detail}\n`)
  else if (tests.length === 0) lines.push('no tests\n')
  return `${isOnly ? '' : `${file}\n`}${lines.join('')}${coverage === null ? '' : coverageText(coverage)}`
}

/** XML 1.0 can't represent most control characters. */
const xml = (text: string): string =>
  Bun.escapeHTML(text.replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}'))

const caseXml = (file: string, name: string, content: string): string =>
  `    <testcase classname="${xml(file)}" name="${xml(name)}">${content}</testcase>\n`

const suiteXml = ({ file, tests, invalid }: Suite): string => {
  const cases = tests.map(({ name, failure }) =>
    caseXml(file, name, failure === null ? '' : `<failure message="${xml(failure)}"/>`),
  )
  if (invalid !== null) cases.push(caseXml(file, 'valid document', `<error>${xml(invalid.message)}</error>`))
  else if (tests.length === 0) cases.push(caseXml(file, 'tests', '<skipped message="the document has no tests"/>'))
  const failures = tests.filter(({ failure }) => failure !== null).length
  const counts = `tests="${cases.length}" failures="${failures}" errors="${invalid === null ? 0 : 1}"`
  return `  <testsuite name="${xml(file)}" ${counts}>\n${cases.join('')}  </testsuite>\n`
}

/** Writes the format that GitHub Actions reporters, GitLab and Jenkins read. @throws CommandFailedError */
const writeJunit = (path: string, suites: readonly Suite[]): void => {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.map(suiteXml).join('')}</testsuites>\n`
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw new CommandFailedError(`${path} ${unreadableText(error)}`)
  }
}

export const test = (context: CommandContext): number => {
  const { command, output } = context
  const suites = command.words.flatMap(documentsAt).map((file) => runSuite(context, file))
  const junit = command.text('junit')
  if (junit !== undefined) writeJunit(junit, suites)
  const [first] = suites
  const isOnly = suites.length === 1
  if (isOnly && first !== undefined && first.invalid !== null) throw first.invalid
  const withFile = <Item extends object>(read: (suite: Suite) => readonly Item[]) =>
    suites.flatMap((suite) => read(suite).map((item) => ({ file: suite.file, ...item })))
  const tests = withFile((suite) => suite.tests)
  const failed = tests.filter(({ failure }) => failure !== null).length
  const passed = tests.length - failed
  const invalid = suites.flatMap(({ file, invalid }) => (invalid === null ? [] : [{ file, issues: invalid.issues }]))
  const untested = suites.filter((suite) => suite.invalid === null && suite.tests.length === 0).map(({ file }) => file)
  print(
    context,
    {
      passed,
      failed,
      tests,
      warnings: withFile((suite) => suite.warnings),
      untested,
      invalid,
      ...(command.flag('coverage') && { coverage: withFile(({ coverage }) => (coverage === null ? [] : [coverage])) }),
    },
    `${suites.map((suite) => suiteText(suite, isOnly)).join('')}${passed} passed, ${failed} failed\n`,
  )
  for (const { file, source, warnings, invalid } of suites) {
    if (!isOnly && (invalid !== null || warnings.length > 0) && !command.flag('json')) output.stderr(`${file}\n`)
    if (invalid !== null && !command.flag('json')) output.stderr(`${invalid.message}\n`)
    printWarnings(context, source, warnings)
  }
  return failed + invalid.length === 0 ? 0 : 1
}
