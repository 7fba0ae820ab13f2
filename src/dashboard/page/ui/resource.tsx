// List of records from a description: table, creation, row actions, and placeholder.
import type { ComponentChildren } from 'preact'
import type { Pages } from '../data/use-pages.ts'
import { useMake } from '../shell/use-make.ts'
import { type Action, menuItems, useActions, useStarter } from './actions.tsx'
import { Button, type ButtonProps } from './button.tsx'
import type { IconName } from './icons.tsx'
import { RowMenu } from './menu.tsx'
import { Card, Empty, Page } from './parts.tsx'
import { Problem } from './problem.tsx'
import { type Columns, PagedTable } from './table.tsx'

interface ResourceProps<Row> {
  readonly caption: string
  readonly pages: Pages<Row>
  readonly rowKey: (row: Row) => string
  readonly columns: Columns<Row>
  readonly href?: (row: Row) => string | null
  readonly dimmed?: (row: Row) => boolean
  /** Returns the name of the row, for the row's menu. */
  readonly name?: (row: Row) => string
  readonly actions?: (row: Row) => readonly (Action | false)[]
  readonly onChange?: () => void
  readonly create?: Action
  /** False hides the actions and the creation. */
  readonly mayChange?: boolean
  readonly empty: readonly [icon: IconName, title: string, text: ComponentChildren]
}

const useResource = <Row,>({
  pages,
  onChange,
  name,
  actions,
  columns,
  create,
  empty,
  mayChange = true,
  ...table
}: ResourceProps<Row>) => {
  const onDone = (): void => {
    pages.reload()
    onChange?.()
  }
  const { start, dialog } = useActions(onDone)
  const creation = useStarter(create, onDone)
  const menu = (row: Row): ComponentChildren => {
    const items = mayChange ? menuItems(actions?.(row) ?? [], start) : []
    return items.length > 0 && <RowMenu label={`Actions for ${name?.(row) ?? ''}`} items={items} />
  }
  const [icon, title, text] = empty
  const begin = create !== undefined && mayChange ? creation.start : null
  const createButton = (props: Partial<ButtonProps> = {}): ComponentChildren =>
    begin !== null && (
      <Button {...props} onClick={begin}>
        {create?.label}
      </Button>
    )
  const content = (
    <>
      <PagedTable<Row>
        {...table}
        pages={pages}
        columns={actions === undefined ? columns : { ...columns, '': menu }}
        empty={
          <Empty icon={icon} title={title} actions={createButton()}>
            {typeof text === 'string' ? <p>{text}</p> : text}
          </Empty>
        }
      />
      {creation.dialog}
      {dialog}
    </>
  )
  return { begin, createButton, content }
}

interface ResourceCardProps<Row> extends Omit<ResourceProps<Row>, 'caption'> {
  readonly title: string
  readonly text?: ComponentChildren
  readonly tools?: ComponentChildren
}

export const ResourceCard = <Row,>({ title, text, tools, ...resource }: ResourceCardProps<Row>) => {
  const { createButton, content } = useResource({ ...resource, caption: title })
  return (
    <Card flush title={title} text={text} actions={[tools, createButton({ small: true, icon: 'plus' })]}>
      {content}
    </Card>
  )
}

interface ResourcePageProps<Row> extends Omit<ResourceProps<Row>, 'caption'> {
  readonly title: string
  readonly lead?: string
  readonly heading?: string
  readonly error?: unknown
  readonly children?: ComponentChildren
}

/** Pressing `c` opens the creation dialog. */
export const ResourcePage = <Row,>(props: ResourcePageProps<Row>) => {
  const { title, lead, heading, error, children, ...resource } = props
  const { begin, createButton, content } = useResource({ ...resource, caption: heading ?? title })
  useMake(resource.create?.label ?? '', begin)
  return (
    <Page title={title} lead={lead} actions={createButton({ kind: 'primary', icon: 'plus' })}>
      <Problem error={error} />
      <Card flush title={heading}>
        {content}
      </Card>
      {children}
    </Page>
  )
}
