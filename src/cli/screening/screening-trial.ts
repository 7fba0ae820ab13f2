// `countersign screening trial`: what another threshold would have caught, of the newest sessions against today's lists.
import { TRIAL_THRESHOLDS } from '../../domain/screening-hit.ts'
import type { Opened } from '../admin-client.ts'
import { findOrganization } from '../in-organization.ts'
import { parseWhole } from '../key-options.ts'
import { type CommandOutput, formatTable, type ParsedCommand, UsageError } from '../output.ts'

export const screeningTrial = async ({
  admin,
  output,
  command,
}: Opened & { readonly output: CommandOutput; readonly command: ParsedCommand }): Promise<void> => {
  const text = command.text('threshold')
  const given = text === undefined ? null : parseWhole(text, '--threshold')
  if (given !== null && !TRIAL_THRESHOLDS.some((threshold) => threshold === given)) {
    throw new UsageError(`--threshold is one of ${TRIAL_THRESHOLDS.join(', ')}`)
  }
  const { id, slug } = await findOrganization({ admin }, command.text('org') ?? 'demo')
  const params = { organization: id }
  const trial = await admin.call('POST /organizations/{organization}/screening/trial', { params, body: {} })
  if (command.flag('json')) {
    output.stdout(`${JSON.stringify({ slug, ...trial })}\n`)
    return
  }
  const chosen = given ?? trial.threshold
  output.stdout(
    formatTable([
      ['FROM', 'HITS', 'SESSIONS', ''],
      ...trial.counts.map(({ threshold, hits, sessions }) => [
        String(threshold),
        String(hits),
        String(sessions),
        threshold === trial.threshold ? 'as it is now' : '',
      ]),
    ]),
  )
  const [from, to] = [Math.min(chosen, trial.threshold), Math.max(chosen, trial.threshold)]
  const between = trial.names.filter(({ score }) => score >= from && score < to)
  if (between.length > 0) {
    output.stdout(
      `\n${formatTable([
        ['SCORE', 'SESSION', 'WHOSE', 'LIST', 'ENTRY', 'NAME', 'DECIDED'],
        ...between.map((one) => [
          String(one.score),
          one.session_id,
          one.subject,
          one.list,
          one.entry,
          one.name,
          one.state === null || one.state === 'open' ? '' : one.state,
        ]),
      ])}`,
    )
  }
  const which = trial.exact ? 'all' : 'the newest'
  output.stderr(`${trial.sessions} sessions were compared, ${which} that were handed in or completed\n`)
}
