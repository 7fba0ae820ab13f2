// Finds a page, an organization or an action by a few letters of its name.
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from '../ui/icons.tsx'
import { matchScore } from './match.ts'

export interface Command {
  readonly id: string
  readonly label: string
  /** Where it belongs, as `Organization`. */
  readonly group: string
  readonly icon: IconName
  readonly run: () => void
}

const SHOWN_MAX = 30

export const findCommands = (commands: readonly Command[], text: string): readonly Command[] => {
  const wanted = text.trim().toLowerCase()
  return commands
    .flatMap((command) => {
      const score = matchScore(`${command.label}`, wanted) ?? (matchScore(command.group, wanted) === 0 ? 4 : null)
      return score === null ? [] : [{ command, score }]
    })
    .sort((left, right) => left.score - right.score)
    .slice(0, SHOWN_MAX)
    .map(({ command }) => command)
}

interface PaletteProps {
  readonly commands: readonly Command[]
  readonly onClose: () => void
}

export const Palette = ({ commands, onClose }: PaletteProps) => {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const found = findCommands(commands, text)
  const chosen = found[Math.min(at, found.length - 1)]
  useEffect(() => {
    const element = dialog.current
    if (element !== null && !element.open) element.showModal()
    return () => element?.close()
  }, [])
  useEffect(() => {
    if (chosen !== undefined) document.getElementById(`${id}-${chosen.id}`)?.scrollIntoView({ block: 'nearest' })
  }, [chosen, id])

  const pick = (command: Command | undefined): void => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  const press = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && found.length > 0) {
      event.preventDefault()
      setAt((Math.min(at, found.length - 1) + step + found.length) % found.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      pick(chosen)
    }
  }

  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label="Find a page"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onPointerDown={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <div class="palette-input">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label="Find a page, an organization or an action"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen === undefined ? undefined : `${id}-${chosen.id}`}
          autocomplete="off"
          spellcheck={false}
          placeholder="Find a page, an organization or an action"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={press}
        />
      </div>
      <div id={`${id}-list`} role="listbox" aria-label="Results" class="palette-list" tabIndex={-1}>
        {found.map((command) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys go to the text field, which names the chosen one
          <div
            key={command.id}
            id={`${id}-${command.id}`}
            role="option"
            tabIndex={-1}
            aria-selected={command === chosen}
            class="palette-item"
            onClick={() => pick(command)}
          >
            <Icon name={command.icon} size={16} />
            <span>{command.label}</span>
            <span class="faint">{command.group}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="palette-none">Nothing is called that.</p>}
    </dialog>
  )
}
