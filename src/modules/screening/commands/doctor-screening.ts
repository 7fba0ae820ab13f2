import { durationText, secondsSince } from '../../../lib/time.ts'
import type { Inspection } from '../../../module-interface/module.ts'
import { PROGRAM } from '../../../program/labels.ts'
import type { Finding } from '../../../setup/finding.ts'
import type { Store } from '../../../store/store.ts'

/** Age of an outdated list, as in deploy/prometheus/alerts.yaml. */
const LIST_OLD_SECONDS = 2 * 86_400

const inspectLists = async ({ screeningLists }: Store, nowSeconds: number): Promise<Finding[]> =>
  (await screeningLists.list()).map(({ name, urls, confirmedAtSeconds, intervalSeconds, failure }): Finding => {
    const subject = `screening ${name}`
    const age = secondsSince(confirmedAtSeconds, nowSeconds)
    const said =
      age === null
        ? confirmedAtSeconds === null
          ? 'never read'
          : 'read while the clock was ahead'
        : `confirmed ${durationText(age)} ago`
    const reason = failure === null ? '' : `, and the last attempt failed: ${failure}`
    const isOld = age === null || age > Math.max(LIST_OLD_SECONDS, 2 * intervalSeconds)
    if (!isOld && reason === '') return { check: 'list', subject, result: 'ok', detail: said }
    const advice =
      urls.length === 0 ? `${PROGRAM} screening-list import ${name} FILE` : `${PROGRAM} screening-list list`
    return { check: 'list', subject, result: isOld ? 'problem' : 'note', detail: `${said}${reason}: ${advice}` }
  })

/** Verified people with an undecided hit are in no queue. */
const inspectHits = async ({ organizations, sessionCounts }: Store): Promise<Finding[]> => {
  const findings: Finding[] = []
  for (const { id, slug } of await organizations.list()) {
    const { count, exact } = await sessionCounts.withOpenHits(id)
    if (count === 0) continue
    const who = `${exact ? '' : 'over '}${count} verified session${count === 1 ? ' has' : 's have'}`
    const detail =
      `${who} an undecided hit: ` +
      `${PROGRAM} session list --status completed --hits open --org ${slug}, or open Reviews in the dashboard`
    findings.push({ check: 'hits', subject: slug, result: 'note', detail })
  }
  return findings
}

export const inspectScreening = async ({
  store,
  clock,
}: Pick<Inspection, 'store' | 'clock'>): Promise<readonly Finding[]> => [
  ...(await inspectLists(store, clock.unixSeconds())),
  ...(await inspectHits(store)),
]
