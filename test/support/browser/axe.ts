// Runs axe-core on a page. The debugger evaluates its source, because the page's content security policy forbids
// loading it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Finding {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[]
}

/** Returns serious and critical findings, one line each. @param only rules to run; all by default */
export const seriousFindings = async (page: Page, only: readonly string[] = []): Promise<readonly string[]> => {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE)
  const findings = await page.evaluate(async (rules) => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Finding[] }> } }
    // Only violations are read. No default rule needs preloaded assets.
    const options = { resultTypes: ['violations'], preload: false, ...(rules.length === 0 ? {} : { runOnly: rules }) }
    return (await axe.run(options)).violations
  }, only)
  return findings
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${String(target)} ${failureSummary}`))
}
