// The search text is sent in the body instead of the URL, because it may be a person's name.
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Session } from '../api/types.ts'
import { type Pages, usePages } from '../data/use-pages.ts'
import { useWorkplace } from '../shell/session.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'

interface SearchProps {
  readonly text: string
  readonly onText: (text: string) => void
}

export const SearchField = ({ text, onText }: SearchProps) => {
  const [typed, setTyped] = useState(text)
  // The text may come from the command palette.
  useEffect(() => setTyped(text), [text])
  return (
    <form
      class="filters filters-wide"
      onSubmit={(event) => {
        event.preventDefault()
        onText(typed.trim())
      }}
    >
      <TextField
        label="Name, document or registration number, wallet or session ID"
        type="search"
        value={typed}
        onValue={setTyped}
        input={{ 'data-search': true, maxLength: 200 }}
      />
      <Button submit icon="search">
        Search
      </Button>
      {text !== '' && (
        <Button kind="quiet" onClick={() => onText('')}>
          Show queue
        </Button>
      )}
    </form>
  )
}

export const useFoundSessions = (text: string): Pages<Session> & { readonly searched: number } => {
  const { params } = useWorkplace()
  const searched = useRef(0)
  const pages = usePages<Session>(
    async (cursor) => {
      if (text === '') return { data: [], next_cursor: null }
      const page = await call('POST /organizations/{organization}/sessions/search', {
        params,
        body: { text, ...(cursor === undefined ? {} : { cursor }) },
      })
      searched.current = page.searched + (cursor === undefined ? 0 : searched.current)
      return page
    },
    [params.organization, text],
  )
  return { ...pages, searched: searched.current }
}
