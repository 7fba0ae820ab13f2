import { useMessages } from '../language.ts'
import { Icon, type IconName } from '../ui/icons.tsx'
import { Button, Screen } from '../ui/parts.tsx'

interface ProblemProps {
  readonly icon: IconName
  readonly title: string
  readonly text: string
  readonly help?: string
  readonly requestId?: string
  readonly reload?: boolean
  readonly link?: string
}

export const Problem = ({ icon, title, text, help, requestId = '', reload = false, link }: ProblemProps) => {
  const { problems } = useMessages()
  return (
    <Screen
      emblem={
        <div class="emblem emblem-plain">
          <Icon name={icon} size={40} />
        </div>
      }
      title={title}
      lead={text}
      {...(reload
        ? {
            actions: (
              <Button kind="primary" icon="turn" onClick={() => location.reload()}>
                {problems.reload}
              </Button>
            ),
          }
        : {})}
    >
      {help !== undefined && <p>{help}</p>}
      {link !== undefined && (
        <p>
          <a href={link}>{link}</a>
        </p>
      )}
      {requestId !== '' && <p class="fine">{problems.requestId(requestId)}</p>}
    </Screen>
  )
}
