// `countersign doctor` on the store: projects without an active policy, outdated data, and the database clock.

import { CommandFailedError } from '../../command-line/output.ts'
import { type Clock, durationText, secondsSince } from '../../lib/time.ts'
import { PROGRAM } from '../../program/labels.ts'
import type { Finding } from '../../setup/finding.ts'
import { readDatabaseClock } from '../../store/database-clock.ts'
import type { Store } from '../../store/store.ts'
import { openGeoFile } from '../geo.ts'

const DAY_SECONDS = 86_400
/** Age of an outdated list, as in deploy/prometheus/alerts.yaml. */
const LIST_OLD_SECONDS = 2 * DAY_SECONDS
const GEOGRAPHY_OLD_SECONDS = 45 * DAY_SECONDS
/** Minimum difference between the clocks for a finding; smaller differences are harmless. */
const CLOCK_NOTE_SECONDS = 2
const CLOCK_PROBLEM_SECONDS = 15

const inspectProjects = async ({ organizations, projects }: Store): Promise<Finding[]> => {
  const findings: Finding[] = []
  for (const { id, slug } of await organizations.list()) {
    for (const { name, policyId, policyActive } of await projects.list(id)) {
      if (policyActive) continue
      const detail =
        `all requests are refused, because the policy has no active revision: ` +
        `${PROGRAM} policy activate ${policyId} --revision N --org ${slug}`
      findings.push({ check: 'project', subject: `${slug}: ${name}`, result: 'problem', detail })
    }
  }
  return findings
}

const inspectLists = async ({ lists, listSources, organizations }: Store, nowSeconds: number): Promise<Finding[]> => {
  const slugs = new Map((await organizations.list()).map(({ id, slug }) => [id, slug]))
  const named = new Map((await lists.listAll()).map((list) => [list.id, list]))
  return (await listSources.listAll()).flatMap((source): Finding[] => {
    const list = named.get(source.listId)
    if (list === undefined) return []
    const slug = list.organizationId === null ? null : (slugs.get(list.organizationId) ?? '')
    const subject = slug === null ? list.name : `${slug}: ${list.name}`
    const age = secondsSince(source.confirmedAtSeconds, nowSeconds)
    const unknown =
      source.confirmedAtSeconds === null
        ? 'the source was never read completely'
        : 'the source was read while the clock was ahead'
    const said = age === null ? unknown : `confirmed by the source ${durationText(age)} ago`
    const reason = source.failure === null ? '' : `, and the last attempt failed: ${source.failure}`
    const isOld = age === null || age > Math.max(LIST_OLD_SECONDS, 2 * source.intervalSeconds)
    if (!isOld && reason === '') return [{ check: 'list', subject, result: 'ok', detail: said }]
    const command = `${PROGRAM} list-source refresh ${list.name} ${slug === null ? '--shared' : `--org ${slug}`}`
    return [{ check: 'list', subject, result: isOld ? 'problem' : 'note', detail: `${said}${reason}: ${command}` }]
  })
}

const inspectGeography = async (path: string, clock: Clock): Promise<Finding[]> => {
  if (path === '') return []
  try {
    const { file } = await openGeoFile(path, clock)
    const age = clock.unixSeconds() - file.builtAtSeconds
    const said = `the geography file was built ${durationText(Math.max(0, age))} ago`
    const isOld = age > GEOGRAPHY_OLD_SECONDS
    const detail = isOld ? `${said}: replace it with a new file from the publisher` : said
    return [{ check: 'geography', subject: path, result: isOld ? 'note' : 'ok', detail }]
  } catch (error) {
    if (!(error instanceof CommandFailedError)) throw error
    return [
      {
        check: 'geography',
        subject: path,
        result: 'problem',
        detail: `${error.message}: replace it with a valid file`,
      },
    ]
  }
}

const inspectDatabaseClock = async ({ database }: Store, clock: Clock): Promise<Finding[]> => {
  const theirs = await readDatabaseClock(database)
  if (theirs === null) return []
  const apart = Math.abs(Math.round(clock.unixSeconds() - theirs))
  const detail = `the database’s clock and this machine’s are ${apart} s apart`
  if (apart <= CLOCK_NOTE_SECONDS) return [{ check: 'clock', subject: 'store', result: 'ok', detail }]
  const result = apart > CLOCK_PROBLEM_SECONDS ? 'problem' : 'note'
  return [{ check: 'clock', subject: 'store', result, detail: `${detail}: synchronize both with NTP` }]
}

export const inspectStore = async (store: Store, clock: Clock, geoipFile: string): Promise<readonly Finding[]> => {
  const nowSeconds = clock.unixSeconds()
  return [
    ...(await inspectProjects(store)),
    ...(await inspectDatabaseClock(store, clock)),
    ...(await inspectLists(store, nowSeconds)),
    ...(await inspectGeography(geoipFile, clock)),
  ]
}
