export const Mark = ({ size = 26 }: { readonly size?: number }) => (
  <svg class="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" class="mark-ground" />
    <path d="M16 6.5l8 3v6.2c0 5.2-3.4 8.6-8 10.3-4.6-1.7-8-5.1-8-10.3V9.5ZM12.4 16l2.6 2.6 4.8-5" class="mark-line" />
  </svg>
)
