// Pages and actions are searched locally; objects are requested from the server when typing pauses.
import { useEffect, useId, useState } from 'preact/hooks'
import { useModal } from '../ui/dialog.tsx'
import { Icon, type IconName } from '../ui/icons.tsx'
import { FIND_MIN } from './find-things.ts'
import { rankCommands } from './match.ts'

export interface Command {
  readonly id: string
  readonly label: string
  readonly group: string
  readonly icon: IconName
  readonly run: () => void
}

interface PaletteProps {
  readonly commands: readonly Command[]
  readonly search: ((text: string, signal: AbortSignal) => Promise<readonly Command[]>) | null
  readonly onClose: () => void
}

const PAUSE_MS = 150
const NOTHING: readonly Command[] = []

/** The previous results stay visible until the new results arrive. */
const useThings = (search: PaletteProps['search'], text: string) => {
  const [state, setState] = useState({ things: NOTHING, failed: false, asking: false })
  useEffect(() => {
    const wanted = text.trim()
    if (search === null || wanted.length < FIND_MIN) {
      setState({ things: NOTHING, failed: false, asking: false })
      return
    }
    const controller = new AbortController()
    setState((before) => ({ ...before, asking: true }))
    const ask = async (): Promise<void> => {
      try {
        const things = await search(wanted, controller.signal)
        if (!controller.signal.aborted) setState({ things, failed: false, asking: false })
      } catch {
        // Reported below the list, which still contains pages and actions.
        if (!controller.signal.aborted) setState({ things: NOTHING, failed: true, asking: false })
      }
    }
    const timer = setTimeout(() => void ask(), PAUSE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text])
  return state
}

export const Palette = ({ commands, search, onClose }: PaletteProps) => {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const dialog = useModal()
  const id = useId()
  const { things, failed, asking } = useThings(search, text)
  const found = rankCommands(commands, things, text)
  const chosen = found[Math.min(at, found.length - 1)]
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
      aria-label="Find anything"
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
          aria-label="Find a page, an action, or an item by name, ID or wallet"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen === undefined ? undefined : `${id}-${chosen.id}`}
          autocomplete="off"
          spellcheck={false}
          placeholder="Find a page, an action, or an item by name, ID or wallet"
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
          // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys and refers to the selected option
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
      <p class="palette-none" role="status">
        {failed
          ? 'Policies, projects, people and other items could not be searched.'
          : found.length > 0
            ? ''
            : asking
              ? 'Searching'
              : 'No results.'}
      </p>
    </dialog>
  )
}
