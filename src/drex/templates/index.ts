import type { Artifact, Template } from './template.ts'

export type { Artifact, Place, Template } from './template.ts'

/**
 * The templates: a folder and a line each. `standard` names the standard of its tokens. Each template is loaded on
 * first use: loading the schemas of all would cost each start some milliseconds.
 */
export const templates = {
  currency: {
    standard: 'ERC-20 with authorised accounts and frozen balances',
    load: () => import('./currency/index.ts'),
  },
  tokenized_asset: { standard: 'ERC-20', load: () => import('./tokenized-asset/index.ts') },
  receivables: { standard: 'ERC-20', load: () => import('./receivables/index.ts') },
  real_estate: { standard: 'ERC-1400', load: () => import('./real-estate/index.ts') },
  escrow: { standard: 'Custom', load: () => import('./escrow/index.ts') },
  lien: { standard: 'Custom', load: () => import('./lien/index.ts') },
  tokenized_bond: { standard: 'ERC-1155', load: () => import('./tokenized-bond/index.ts') },
  bond_delivery: { standard: 'Custom', load: () => import('./bond-delivery/index.ts') },
  address_directory: { standard: 'Custom', load: () => import('./address-directory/index.ts') },
  default_accounts: { standard: 'Custom', load: () => import('./default-accounts/index.ts') },
  account_access: { standard: 'Custom', load: () => import('./account-access/index.ts') },
  retail_currency: {
    standard: 'ERC-20 with authorised accounts and frozen balances',
    load: () => import('./retail-currency/index.ts'),
  },
  reserve_swap: { standard: 'Custom', load: () => import('./reserve-swap/index.ts') },
  reserve_transfer: { standard: 'Custom', load: () => import('./reserve-transfer/index.ts') },
} as const satisfies Readonly<
  Record<
    string,
    { readonly standard: string; readonly load: () => Promise<{ readonly template: Template }> }
  >
>

export type TemplateName = keyof typeof templates

export const templateNames = Object.keys(templates) as [TemplateName, ...TemplateName[]]

export const loadTemplate = async (name: TemplateName): Promise<Template> =>
  (await templates[name].load()).template

export const loadArtifact = async (name: TemplateName): Promise<Artifact> =>
  (await (await loadTemplate(name)).artifact()).default
