// Switching the second-person rule requires a confirmation, because the rule is hard to revoke.
import type { Query } from '../data/use-query.ts'
import { SwitchCard } from '../ui/settings-card.tsx'

interface Setting {
  readonly second_person: boolean
}

interface SecondPersonCardProps {
  readonly label: string
  readonly covers: string
  readonly query: Query<Setting>
  readonly mayChange?: boolean
  readonly change: (setting: Setting) => Promise<Setting>
}

export const SecondPersonCard = ({ covers, change, ...card }: SecondPersonCardProps) => (
  <SwitchCard
    {...card}
    id="second-person"
    title="Second person"
    hint="Turning this off also requires an approval."
    isOn={({ second_person: on }) => on}
    states={{ on: 'Changes that affect signing require another admin’s approval.', off: 'Approvals are not required.' }}
    change={(wanted) => change({ second_person: wanted })}
    action={(wanted) =>
      wanted
        ? {
            label: 'Require approvals',
            title: 'Require a second person?',
            done: 'A second person is required',
            text: (
              <>
                <p>{covers} A change takes effect when someone other than its author approves it.</p>
                <p>
                  The approver must already be an administrator. Author and approver must not have invited each other or
                  recovered each other’s account. API keys can no longer make these changes.
                </p>
              </>
            ),
          }
        : {
            label: 'Request approval',
            title: 'Stop requiring a second person?',
            danger: true,
            done: 'A second person is not required',
            text: 'Another administrator must approve this. Until then, nothing changes.',
          }
    }
  />
)
