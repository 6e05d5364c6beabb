/** The text of a network, unless the database cannot store it: only the fields that decide have their characters checked. */
export const storable = (text: string | undefined): string | undefined =>
  text?.includes('\0') === true ? undefined : text
