// Sets the theme before the first paint. This is not a module, because modules run after it.
'use strict';
document.documentElement.dataset.theme = localStorage.getItem('quorate-theme') ?? 'auto';
