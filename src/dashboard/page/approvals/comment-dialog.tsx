import { ActionDialog, action } from '../ui/actions.tsx'

export const CommentDialog = ({ onDone }: { readonly onDone: (comment: string | null) => void }) => (
  <ActionDialog
    action={action({
      label: 'Request approval',
      title: 'This change needs approval',
      text: 'The change takes effect when someone else approves it under Approvals. The request expires after a week.',
      fields: {
        comment: {
          label: 'Comment',
          hint: 'Shown to the approver and kept with the request.',
          optional: true,
          maxLength: 500,
        },
      },
      run: async ({ comment = '' }) => onDone(comment),
    })}
    onClose={() => onDone(null)}
  />
)
