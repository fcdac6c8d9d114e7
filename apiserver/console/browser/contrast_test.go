package browser

import (
	"fmt"

	"github.com/chromedp/chromedp"
)

// leastContrast is the contrast that WCAG 2 (level AA) asks of text.
const leastContrast = 4.5

// contrasts returns the texts of the page whose contrast with what is behind them is less than
// leastContrast, with the ratio. A canvas converts colours of all notations. Controls that are
// disabled, and pictures, are left out.
const contrasts = `(() => {
	const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
	const pixel = (colour) => {
		canvas.clearRect(0, 0, 1, 1);
		canvas.fillStyle = colour;
		canvas.fillRect(0, 0, 1, 1);
		const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
		return {rgb: [r, g, b], alpha: a / 255};
	};
	const over = (top, bottom) => top.rgb.map((value, i) => value * top.alpha + bottom[i] * (1 - top.alpha));
	const behind = (element) => element
		? over(pixel(getComputedStyle(element).backgroundColor), behind(element.parentElement)) : [255, 255, 255];
	const luminance = (rgb) => rgb.map((value) => {
		const c = value / 255;
		return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
	}).reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
	const poor = [];
	for (const element of document.querySelectorAll('body *')) {
		const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
		if (!own || element.closest('svg, .unseen, :disabled, .space, #skip') || !element.checkVisibility()) continue;
		const back = behind(element);
		const [dark, light] = [luminance(over(pixel(getComputedStyle(element).color), back)), luminance(back)].sort((a, b) => a - b);
		const ratio = (light + 0.05) / (dark + 0.05);
		if (ratio < %g) poor.push(element.textContent.trim().slice(0, 40) + ': ' + ratio.toFixed(2));
	}
	return poor;
})()`

// checkContrast checks the contrast of the page's texts in both themes.
func (p *page) checkContrast(where string) {
	p.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		p.setTheme(theme)
		for _, text := range eval[[]string](p, fmt.Sprintf(contrasts, leastContrast)) {
			p.t.Errorf("%s, %s: too little contrast: %s", where, theme, text)
		}
	}
	p.setTheme("auto")
}

func (p *page) setTheme(theme string) {
	p.t.Helper()
	p.run(chromedp.Evaluate(fmt.Sprintf("document.documentElement.dataset.theme = %q; true", theme), nil))
}
