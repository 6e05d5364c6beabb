/** Which message versions belong to which revision of the SPI's catalogue, as far as is known. */

export const revisions = ['5.08.1', '5.09.2', '5.10.1', '5.11.1'] as const

export type Revision = (typeof revisions)[number]

/**
 * How sure a version is: seen in a published schema or message of that time (`confirmed`); concluded from versions seen
 * before and after (`inferred`); or only the nearest known version (`weak`).
 */
type Certainty = 'confirmed' | 'inferred' | 'weak'

export type VersionEntry = { readonly version: string; readonly certainty: Certainty }

export const confirmed = (version: string): VersionEntry => ({ version, certainty: 'confirmed' })
export const inferred = (version: string): VersionEntry => ({ version, certainty: 'inferred' })
export const weak = (version: string): VersionEntry => ({ version, certainty: 'weak' })

/** The same version in all revisions, by certainty from the oldest revision to the newest. */
export const steady = (version: string): Readonly<Record<Revision, VersionEntry>> => ({
  '5.08.1': weak(version),
  '5.09.2': weak(version),
  '5.10.1': inferred(version),
  '5.11.1': inferred(version),
})

/** The type is known to have changed later; the oldest known version stands for those before it. */
export const oldestKnown = (version: string): Readonly<Record<Revision, VersionEntry>> => ({
  '5.08.1': weak(version),
  '5.09.2': weak(version),
  '5.10.1': weak(version),
  '5.11.1': weak(version),
})

/** Seen in use in the months of 5.10.1, and unchanged in the catalogues after it. */
export const seenAt510 = (version: string): Readonly<Record<Revision, VersionEntry>> => ({
  ...steady(version),
  '5.10.1': confirmed(version),
})
