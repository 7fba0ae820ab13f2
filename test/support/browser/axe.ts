// axe-core on a page as it stands. Its source is run by the debugger, since the page's own policy forbids it to come in.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Finding {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[]
}

/**
 * What axe calls serious or critical, in one line each.
 * @param only the rules to try; all unless given
 */
export const seriousFindings = async (page: Page, only: readonly string[] = []): Promise<readonly string[]> => {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE)
  const findings = await page.evaluate(async (rules) => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Finding[] }> } }
    // Only violations are read, so only they are put together. No rule that is on by default needs what is preloaded.
    const options = { resultTypes: ['violations'], preload: false, ...(rules.length === 0 ? {} : { runOnly: rules }) }
    return (await axe.run(options)).violations
  }, only)
  return findings
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${String(target)} ${failureSummary}`))
}
