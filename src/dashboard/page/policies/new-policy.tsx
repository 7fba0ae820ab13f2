// A new policy is saved as revision 1, and activated separately.
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useAction } from '../data/use-action.ts'
import { useLeaveWarning } from '../data/use-leave-warning.ts'
import { useRead } from '../data/use-query.ts'
import { navigate } from '../router.ts'
import { useWorkplace } from '../shell/session.ts'
import { useActions } from '../ui/actions.tsx'
import { Button } from '../ui/button.tsx'
import { Card, Loading, Page } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { say } from '../ui/toast.tsx'
import { PolicyEditor } from './policy-editor.tsx'
import { isGood, useCheck } from './use-check.ts'

const BLANK = {
  name: 'blank',
  title: 'Blank',
  description: 'A single rule to start from.',
  source: `name: New policy
description: The purpose of the policy, in one sentence.
default: deny
rules:
  - id: known-wallet
    allow: wallet.address == address("0x52908400098527886E0F7030069857D2E4169EE7")
tests:
  - name: the known wallet
    request: { from: "0x52908400098527886E0F7030069857D2E4169EE7" }
    verdict: allow
    rule: known-wallet
`,
} as const

export const NewPolicy = () => {
  const { params, path } = useWorkplace()
  const templates = useRead('GET /policy-templates')
  const [chosen, setChosen] = useState('')
  const [source, setSource] = useState('')
  const [generation, setGeneration] = useState(0)
  const { start, dialog } = useActions()
  const check = useCheck(source)
  const choices = [BLANK, ...(templates.value?.data ?? [])]
  const of = (name: string) => choices.find((choice) => choice.name === name)

  useEffect(() => {
    if (chosen !== '') return
    setChosen(BLANK.name)
    setSource(BLANK.source)
    setGeneration((now) => now + 1)
  }, [chosen])

  const take = (name: string): void => {
    setChosen(name)
    setSource(of(name)?.source ?? '')
    setGeneration((now) => now + 1)
  }
  const untouched = source === (of(chosen)?.source ?? '')
  useLeaveWarning(!untouched, 'everywhere')
  const choose = (name: string): void => {
    if (untouched) take(name)
    else {
      start({
        label: 'Replace',
        danger: true,
        title: 'Replace your text?',
        text: `The template “${of(name)?.title}” replaces the text in the editor.`,
        run: async () => take(name),
      })
    }
  }
  const make = useAction(async () => {
    const { policy } = await call('POST /organizations/{organization}/policies', { params, body: { source } })
    say('Policy created')
    navigate(path(`/policies/${policy.id}`), { isSaved: true })
  })
  const save = (): void => {
    if (isGood(check)) make.run()
  }
  return (
    <Page
      title="Create policy"
      crumbs={[{ label: 'Policies', href: path('/policies') }]}
      lead="Start from the closest template. The policy is checked while you type."
      actions={
        <Button kind="primary" busy={make.busy} disabled={!isGood(check)} onClick={save}>
          Create
        </Button>
      }
    >
      <Problem error={make.failure} />
      <Card title="Template">
        {templates.value === null && templates.error === null && <Loading />}
        <Problem error={templates.error} retry={templates.reload} />
        <fieldset class="templates">
          <legend class="sr-only">Template</legend>
          {choices.map(({ name, title, description }) => (
            <label key={name} class="radio">
              <input
                type="radio"
                name="template"
                value={name}
                checked={name === chosen}
                onChange={() => choose(name)}
              />
              <span>
                <span class="radio-label">{title}</span>
                <span class="field-hint template-text">{description}</span>
              </span>
            </label>
          ))}
        </fieldset>
      </Card>
      <PolicyEditor
        value={source}
        generation={generation}
        onValue={setSource}
        check={check}
        readOnly={false}
        onSave={save}
      />
      {dialog}
    </Page>
  )
}
