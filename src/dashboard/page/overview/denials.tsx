import { RuleOf } from '../decisions/labels.tsx'
import { searchOf } from '../decisions/search.ts'
import { useWorkplace } from '../shell/session.ts'
import { Card } from '../ui/parts.tsx'
import { type Counts, policiesOf, type RuleShare, shareWord, type Tally, totalOf } from './days.ts'

const MINUTES_A_WEEK = '10080'

const Share = ({ part, whole }: { readonly part: number; readonly whole: Counts }) => (
  <>
    {shareWord(part, totalOf(whole))}{' '}
    <span class="faint">
      {part.toLocaleString('en')} of {totalOf(whole).toLocaleString('en')}
    </span>
  </>
)

const NONE: Counts = { compliant: 0, denied: 0 }

export const Denials = ({ today, week }: { readonly today: readonly Tally[]; readonly week: readonly Tally[] }) => {
  const { path } = useWorkplace()
  const policies = policiesOf(week)
  if (policies.length === 0) return null
  const ofToday = new Map(policiesOf(today).map((policy) => [policy.id, policy]))
  const searched = (policy: string, more: Parameters<typeof searchOf>[0]): string =>
    path('/decisions') + searchOf({ policy, verdict: 'denied', last: MINUTES_A_WEEK, ...more })
  return (
    <Card title="Denials by policy and rule" text="Share of each policy’s decisions that each rule denied." flush>
      <table class="table">
        <caption class="sr-only">Denials by policy and rule</caption>
        <thead>
          <tr>
            <th scope="col">Policy and rule</th>
            <th scope="col">Today</th>
            <th scope="col">Last 7 days</th>
          </tr>
        </thead>
        <tbody>
          {policies.flatMap((policy) => {
            const now = ofToday.get(policy.id)
            const ruleToday = ({ rule }: RuleShare): number =>
              now?.denying.find((one) => one.rule === rule)?.denied ?? 0
            return [
              <tr key={policy.id}>
                <td data-label="Policy">
                  <div class="cell">
                    <a href={path(`/policies/${policy.id}`)}>{policy.name}</a>
                  </div>
                </td>
                <td data-label="Today">
                  <div class="cell">
                    <Share part={now?.denied ?? 0} whole={now ?? NONE} />
                  </div>
                </td>
                <td data-label="Last 7 days">
                  <div class="cell">
                    <a href={searched(policy.id, {})}>
                      <Share part={policy.denied} whole={policy} />
                    </a>
                  </div>
                </td>
              </tr>,
              ...policy.denying.map((rule) => (
                <tr key={`${policy.id} ${rule.rule}`} class="row-rule">
                  <td data-label="Rule">
                    <div class="cell">
                      <RuleOf rule={rule.rule} />
                    </div>
                  </td>
                  <td data-label="Today">
                    <div class="cell">
                      <Share part={ruleToday(rule)} whole={now ?? NONE} />
                    </div>
                  </td>
                  <td data-label="Last 7 days">
                    <div class="cell">
                      {rule.rule === null ? (
                        <Share part={rule.denied} whole={policy} />
                      ) : (
                        <a href={searched(policy.id, { rule: rule.rule })}>
                          <Share part={rule.denied} whole={policy} />
                        </a>
                      )}
                    </div>
                  </td>
                </tr>
              )),
            ]
          })}
        </tbody>
      </table>
    </Card>
  )
}
