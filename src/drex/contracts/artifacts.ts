/** The compiled templates, loaded one by one when first asked for. */
export const templates = [
  'currency',
  'tokenized_asset',
  'receivables',
  'real_estate',
  'escrow',
] as const
export type Template = (typeof templates)[number]

export type Artifact = {
  readonly contractName: string
  readonly abi: readonly unknown[]
  readonly bytecode: string
  readonly deployedBytecode: string
}

/** The paths are literals so that the compiled executable carries the files. */
export const loadArtifact = async (template: Template): Promise<Artifact> => {
  switch (template) {
    case 'currency':
      return (await import('./generated/Currency.json')).default
    case 'tokenized_asset':
      return (await import('./generated/TokenizedAsset.json')).default
    case 'receivables':
      return (await import('./generated/Receivables.json')).default
    case 'real_estate':
      return (await import('./generated/RealEstate.json')).default
    case 'escrow':
      return (await import('./generated/Escrow.json')).default
  }
}
