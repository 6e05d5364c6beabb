export const listNames = ['holidays', 'participants'] as const
export type ListName = (typeof listNames)[number]

/** Where a list was read, and the day that it is of. */
export type Provenance = { readonly source: string; readonly asOf: string }
