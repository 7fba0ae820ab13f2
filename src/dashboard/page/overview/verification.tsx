import type { AnswerOf } from '../api/client.ts'
import { useRead } from '../data/use-query.ts'
import { useWorkplace } from '../shell/session.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Card } from '../ui/parts.tsx'
import { shareWord } from './days.ts'

type Numbers = AnswerOf<'GET /organizations/{organization}/verification-numbers'>

const STEPS = { created: 'Link created', started: 'Started', submitted: 'Submitted', verified: 'Verified' } as const

const Funnel = ({ funnel }: Pick<Numbers, 'funnel'>) => (
  <Card
    title="Verification funnel"
    text={`Live sessions created in the last 30 days${funnel.exact ? '' : ', newest 10,000'}`}
  >
    <ol class="funnel">
      {Object.entries(STEPS).map(([step, label]) => {
        const count = funnel[step as keyof typeof STEPS]
        return (
          <li key={step}>
            <span>{label}</span>
            <meter min={0} max={Math.max(funnel.created, 1)} value={count} aria-label={label} />
            <span>
              {count.toLocaleString('en')} <span class="faint">{shareWord(count, funnel.created)}</span>
            </span>
          </li>
        )
      })}
    </ol>
  </Card>
)

const Reviewers = ({ reviewers }: Pick<Numbers, 'reviewers'>) => {
  const { path } = useWorkplace()
  return (
    <Card title="Reviewers" text="Waiting sessions, and decisions in the last 30 days" flush>
      <table class="table">
        <caption class="sr-only">Reviewers</caption>
        <thead>
          <tr>
            <th scope="col">Reviewer</th>
            <th scope="col">Waiting</th>
            <th scope="col">Decided</th>
          </tr>
        </thead>
        <tbody>
          {reviewers.map(({ reviewer, waiting, decided }) => (
            <tr key={reviewer}>
              <td data-label="Reviewer">
                <div class="cell">
                  {reviewer === null ? <a href={path('/reviews?assigned=nobody')}>Unassigned</a> : reviewer}
                </div>
              </td>
              <td data-label="Waiting">
                <div class="cell">{waiting.toLocaleString('en')}</div>
              </td>
              <td data-label="Decided">
                <div class="cell">{reviewer === null ? '' : decided.toLocaleString('en')}</div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

/** Hidden if there are no sessions. */
export const Verification = () => {
  const { params } = useWorkplace()
  return (
    <Loaded query={useRead('GET /organizations/{organization}/verification-numbers', { params })}>
      {({ funnel, reviewers }) =>
        funnel.created > 0 && (
          <div class="charts">
            <Funnel funnel={funnel} />
            {reviewers.length > 0 && <Reviewers reviewers={reviewers} />}
          </div>
        )
      }
    </Loaded>
  )
}
