/** The same message in every legal layout that a sender may choose; each reads the same. */
export const layouts = (plain: string): Readonly<Record<string, string>> => ({
  'pretty-printed': plain.replaceAll('><', '>\n    <'),
  prefixed: plain.replaceAll(/<(\/?)(?!ds:)([A-Z])/g, '<$1n:$2').replace('xmlns=', 'xmlns:n='),
  CDATA: plain.replaceAll(/<(Nm|Ustrd|Id|MmbId)>([^<&]*)</g, '<$1><![CDATA[$2]]><'),
  comments: plain.replaceAll(/<(Nm|Ustrd|Id|MmbId)>/g, '<!-- note --><$1>'),
})
