const special = /[&<>\r]/

/** Text as exclusive canonicalisation writes it (Canonical XML 1.0, 2.3). */
export const escaped = (text: string): string =>
  special.test(text)
    ? text
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('\r', '&#xD;')
    : text
