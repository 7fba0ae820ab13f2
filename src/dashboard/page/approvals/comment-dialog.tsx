// What whoever asks for a change says to the second person.
import { useForm } from '../data/use-form.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'

const LENGTH_MAX = 500

export const CommentDialog = ({ onDone }: { readonly onDone: (comment: string | null) => void }) => {
  const form = useForm({
    initial: { comment: '' },
    submit: async ({ comment }): Promise<void> => onDone(comment.trim()),
  })
  return (
    <FormDialog
      title="A second person has to approve this"
      form={form}
      submitLabel="Ask for approval"
      onClose={() => onDone(null)}
    >
      <p class="confirm-text">
        Nothing changes before someone independent of you approves it. It waits under Approvals, for a week.
      </p>
      <TextField
        {...form.text('comment')}
        label="For who approves it"
        hint="May be left empty. It is kept with the request."
        input={{ maxLength: LENGTH_MAX, placeholder: 'Why it is right', autofocus: true }}
      />
    </FormDialog>
  )
}
