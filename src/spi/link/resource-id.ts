/** The interface's own have 32 characters; what is longer cannot be a key of the database. */
export const resourceIdCharactersMax = 255

/** A PI-ResourceId as it is told; undefined for none, and for one that cannot be kept. */
export const resourceIdIn = (told: string | null | undefined): string | undefined => {
  const id = told?.trim() ?? ''
  return id === '' || id.length > resourceIdCharactersMax ? undefined : id
}
